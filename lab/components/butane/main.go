// Tells what Ignition makes of configs.
//
// Input: a JSON array of texts. Output: a JSON array with one list for each, of what Ignition reports:
// errors, with which no host starts, and warnings, such as of keys that it reads over.
package main

import (
	"encoding/json"
	"log"
	"os"

	"github.com/coreos/ignition/v2/config"
)

func main() {
	var texts []string
	if err := json.NewDecoder(os.Stdin).Decode(&texts); err != nil {
		log.Fatal(err)
	}
	answers := make([][]string, len(texts))
	for index, text := range texts {
		_, report, err := config.Parse([]byte(text))
		answers[index] = []string{}
		for _, entry := range report.Entries {
			answers[index] = append(answers[index], entry.String())
		}
		if err != nil && !report.IsFatal() {
			answers[index] = append(answers[index], "error "+err.Error())
		}
	}
	if err := json.NewEncoder(os.Stdout).Encode(answers); err != nil {
		log.Fatal(err)
	}
}
