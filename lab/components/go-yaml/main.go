// Reads YAML and certificates as the programs of Kubernetes do, and reports what they read.
//
// Input: a JSON array of texts. Output: a JSON array with one answer for each. The argument says what
// they are: "documents", "kubeconfigs", "pods" or "servers".
package main

import (
	"encoding/json"
	"errors"
	"io"
	"log"
	"os"
	"strings"

	corev1 "k8s.io/api/core/v1"
	k8syaml "k8s.io/apimachinery/pkg/util/yaml"
	"k8s.io/client-go/tools/clientcmd"
	"sigs.k8s.io/yaml"
)

// answer is what is read from one text; JSON is written as text, since it holds numbers of any size.
type answer struct {
	// The first document, as sigs.k8s.io/yaml reads it, or what the program makes of it.
	JSON  string `json:"json,omitempty"`
	Error string `json:"error,omitempty"`
	// All documents, as kubectl reads a file.
	Documents   []string `json:"documents,omitempty"`
	StreamError string   `json:"streamError,omitempty"`
}

func readDocuments(text string) answer {
	converted, err := yaml.YAMLToJSON([]byte(text))
	found := answer{JSON: string(converted), Error: message(err)}
	decoder := k8syaml.NewYAMLOrJSONDecoder(strings.NewReader(text), 4096)
	for {
		var document json.RawMessage
		err := decoder.Decode(&document)
		if errors.Is(err, io.EOF) {
			return found
		}
		if err != nil {
			found.StreamError = err.Error()
			return found
		}
		found.Documents = append(found.Documents, string(document))
	}
}

// readKubeconfig answers with what the current context names, as kubectl connects with it.
func readKubeconfig(text string) answer {
	config, err := clientcmd.Load([]byte(text))
	if err != nil {
		return answer{Error: err.Error()}
	}
	client, err := clientcmd.NewDefaultClientConfig(*config, nil).ClientConfig()
	if err != nil {
		return answer{Error: err.Error()}
	}
	return asJSON(map[string]any{
		"currentContext": config.CurrentContext,
		"cluster":        config.Contexts[config.CurrentContext].Cluster,
		"user":           config.Contexts[config.CurrentContext].AuthInfo,
		"server":         client.Host,
		"certificate":    string(client.CertData),
		"authority":      string(client.CAData),
		"token":          client.BearerToken,
	})
}

// readPod answers with the pod that the kubelet reads; unknown and repeated fields are errors.
func readPod(text string) answer {
	var pod corev1.Pod
	if err := yaml.UnmarshalStrict([]byte(text), &pod); err != nil {
		return answer{Error: err.Error()}
	}
	return asJSON(pod)
}

func asJSON(value any) answer {
	written, err := json.Marshal(value)
	return answer{JSON: string(written), Error: message(err)}
}

func message(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

func main() {
	readers := map[string]func(string) answer{
		"servers":     serve,
		"documents":   readDocuments,
		"kubeconfigs": readKubeconfig,
		"pods":        readPod,
	}
	if len(os.Args) != 2 || readers[os.Args[1]] == nil {
		log.Fatalf("usage: %s documents|kubeconfigs|pods|servers", os.Args[0])
	}
	var texts []string
	if err := json.NewDecoder(os.Stdin).Decode(&texts); err != nil {
		log.Fatal(err)
	}
	answers := make([]answer, 0, len(texts))
	for _, text := range texts {
		answers = append(answers, readers[os.Args[1]](text))
	}
	if err := json.NewEncoder(os.Stdout).Encode(answers); err != nil {
		log.Fatal(err)
	}
}
