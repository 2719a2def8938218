#!/usr/bin/env Rscript
# Computes the values of the figures from clusters.csv, compares them with figures.csv, and draws them into drawn/figures.pdf.
# Needs R alone. Intervals are those of figures.csv. Exit code 1 if a value is another.

here <- sub("^--file=", "", grep("^--file=", commandArgs(FALSE), value = TRUE))
if (length(here) == 1) setwd(dirname(normalizePath(here)))

read <- function(name) {
  read.csv(name, check.names = FALSE, stringsAsFactors = FALSE, na.strings = "", encoding = "UTF-8")
}
figures <- read("figures.csv")
clusters <- read("clusters.csv")

found <- rep(NA_real_, nrow(figures))
for (i in seq_len(nrow(figures))) {
  row <- figures[i, ]
  own <- clusters[clusters$row == row$row, ]
  if (row$part == "difference") {
    found[i] <- found[figures$row == row$second] - found[figures$row == row$first]
  } else if (nrow(own) > 0 && row$per == "cluster") {
    found[i] <- mean(own$sum / own$n)
  } else if (nrow(own) > 0) {
    found[i] <- sum(own$sum) / sum(own$n)
  }
}

near <- function(one, other) {
  if (is.na(one) || is.na(other)) return(is.na(one) && is.na(other))
  abs(one - other) <= 1e-9 * max(1, abs(one), abs(other))
}
same <- mapply(near, as.numeric(figures$estimate), found)
for (i in seq_len(nrow(figures))) {
  said <- if (same[i]) "" else "  NOT THE DEPOSITED VALUE"
  cat(sprintf("%s: %s: %s%s\n", figures$figure[i], figures$group[i], format(found[i], digits = 6), said))
}

dir.create("drawn", showWarnings = FALSE)
pdf("drawn/figures.pdf")
for (title in unique(figures$figure)) {
  is_of <- figures$figure == title & figures$part == "group"
  low <- as.numeric(figures$low[is_of])
  high <- as.numeric(figures$high[is_of])
  value <- found[is_of]
  at <- rev(seq_along(value))
  if (all(is.na(value))) next
  limits <- range(c(low, value, high), na.rm = TRUE)
  if (limits[1] == limits[2]) limits <- limits + c(-0.5, 0.5)
  par(mar = c(4, 12, 3, 1))
  plot(value, at, xlim = limits, ylim = c(0.5, length(value) + 0.5), pch = 19, yaxt = "n", xlab = "", ylab = "", main = title, cex.main = 0.8)
  has <- !is.na(low)
  if (any(has)) segments(low[has], at[has], high[has], at[has])
  axis(2, at = at, labels = figures$group[is_of], las = 1, cex.axis = 0.7)
}
invisible(dev.off())
cat(sprintf("%d values, %d different; drawn into drawn/figures.pdf\n", nrow(figures), sum(!same)))
quit(status = if (all(same)) 0 else 1)
