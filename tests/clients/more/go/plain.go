// Go's net/http, without an SDK: what it prints are the bytes that it gets, so that a replay is compared to the byte.
package main

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"sort"
	"strings"
	"sync"
	"time"
)

const tries = 4

var key = os.Getenv("STUDY_KEY")

func post(client *http.Client, path string, body map[string]any) (int, string, error) {
	written, _ := json.Marshal(body)
	request, _ := http.NewRequest("POST", os.Getenv("OPENAI_BASE_URL")+path, strings.NewReader(string(written)))
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set("Authorization", "Bearer "+key+"x") // a replay has no key, and refuses no request for that
	answer, err := client.Do(request)
	if err != nil {
		return 0, "", err
	}
	defer answer.Body.Close()
	read, err := io.ReadAll(answer.Body)
	return answer.StatusCode, string(read), err
}

// ask tries again after 429 and 5xx, as SDKs do.
func ask(question string, more map[string]any) string {
	body := map[string]any{"model": "m", "messages": []any{map[string]any{"role": "user", "content": question}}}
	for name, value := range more {
		body[name] = value
	}
	for try := 1; ; try++ {
		status, said, err := post(http.DefaultClient, "/chat/completions", body)
		if err != nil {
			return fmt.Sprintf("%q, then it broke off", said)
		}
		if status < 429 || try == tries {
			return fmt.Sprintf("%d %q", status, said)
		}
		time.Sleep(10 * time.Millisecond)
	}
}

func atOnce() string {
	said := make([]string, 16)
	var group sync.WaitGroup
	for place := range said {
		group.Add(1)
		go func() {
			defer group.Done()
			question := "Draw a card."
			if place < 12 {
				question = fmt.Sprintf("Question %d", place)
			}
			said[place] = question + " " + ask(question, nil)
		}()
	}
	group.Wait()
	sort.Strings(said)
	return strings.Join(said, "\n")
}

func main() {
	tool := map[string]any{"name": "weather", "parameters": map[string]any{"type": "object"}}
	tools := []any{map[string]any{"type": "function", "function": tool}}
	stream := map[string]any{"stream": true}
	fmt.Println("plain", ask("Name a colour.", nil), ask("Name a colour.", nil))
	fmt.Println("tools", ask("How is the weather in Oslo?", map[string]any{"tools": tools}))
	fmt.Println("stream", ask("Tell a story. KEEPALIVE SLOW", stream))
	fmt.Println("cut stream", ask("CUT-IN Tell a legend.", stream))
	fmt.Println("cut between events", ask("CUT-BETWEEN Tell a myth.", stream))
	fmt.Println("error in a stream", ask("ERROR-INSIDE Tell a lie.", stream))
	fmt.Println("at once", atOnce())
	fmt.Println("busy", ask("E429x1 Name a fish.", nil))
	fmt.Println("broken", ask("E500x1 Name a bird.", nil))
	fmt.Println("compressed", ask("GZIP Name a tree.", nil))
	for _, question := range []string{"HANG-UP Name a cloud.", "KEEPALIVE Name a lake.", "NO-TYPE Name a hill."} {
		fmt.Println(question, ask(question, nil))
	}
	hasty := &http.Client{Timeout: 400 * time.Millisecond}
	never := []any{map[string]any{"role": "user", "content": "DELAY=1500 Name a stone."}}
	_, _, err := post(hasty, "/chat/completions", map[string]any{"model": "m", "messages": never})
	fmt.Println("timeout", err != nil && os.IsTimeout(err))
	fmt.Println("refused", ask("Name a colour.", map[string]any{"temperature": 3}))
}
