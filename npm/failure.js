/** An error that is shown without the lines of this package. */
export function failure(message) {
  const error = new Error(`retold: ${message}`);
  error.stack = `Error: ${error.message}`;
  return error;
}
