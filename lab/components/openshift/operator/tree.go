package main

import (
	"bytes"
	"crypto/x509"
	"embed"
	"encoding/base64"
	"encoding/pem"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
	"text/template"
	"time"

	"sigs.k8s.io/yaml"
)

//go:embed templates
var templates embed.FS

const (
	publicMode fs.FileMode = 0o644
	secretMode fs.FileMode = 0o600
)

// writeFile writes a file and the folders above it.
func writeFile(file string, contents []byte, mode fs.FileMode) error {
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		return err
	}
	return os.WriteFile(file, contents, mode)
}

// writeObject writes a manifest.
func writeObject(file string, manifest any) error {
	text, err := yaml.Marshal(manifest)
	if err != nil {
		return err
	}
	return writeFile(file, text, publicMode)
}

// copyDefinitions copies the image's definitions whose names match into a folder. The names of
// the copies can be chosen; without a new name they stay.
func copyDefinitions(folder, pattern, target string, rename map[string]string) error {
	matches, err := filepath.Glob(filepath.Join(folder, pattern))
	if err != nil {
		return err
	}
	if len(matches) == 0 {
		return fmt.Errorf("no definition %s in %s", pattern, folder)
	}
	for _, match := range matches {
		contents, err := os.ReadFile(match)
		if err != nil {
			return err
		}
		name := filepath.Base(match)
		if renamed, found := rename[name]; found {
			name = renamed
		}
		if err := writeFile(filepath.Join(target, name), contents, publicMode); err != nil {
			return err
		}
	}
	return nil
}

// executeTemplates writes the templates below a folder of this program to a folder on disk.
func executeTemplates(folder, target string, data any, functions template.FuncMap) error {
	folder = path.Join("templates", folder)
	return fs.WalkDir(templates, folder, func(file string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		contents, err := executeTemplate(file, data, functions)
		if err != nil {
			return err
		}
		relative := strings.TrimPrefix(file, folder)
		return writeFile(filepath.Join(target, relative), contents, publicMode)
	})
}

func executeTemplate(file string, data any, functions template.FuncMap) ([]byte, error) {
	contents, err := templates.ReadFile(file)
	if err != nil {
		return nil, err
	}
	parsed, err := template.New(file).Option("missingkey=error").Funcs(functions).Parse(string(contents))
	if err != nil {
		return nil, err
	}
	var written bytes.Buffer
	if err := parsed.Execute(&written, data); err != nil {
		return nil, fmt.Errorf("failed rendering %s: %w", path.Base(file), err)
	}
	return written.Bytes(), nil
}

// assetFunctions read keys and certificates in templates.
func assetFunctions(folder string) template.FuncMap {
	read := func(name string) ([]byte, error) { return os.ReadFile(filepath.Join(folder, name)) }
	certificate := func(name string) (*x509.Certificate, error) {
		contents, err := read(name)
		if err != nil {
			return nil, err
		}
		block, _ := pem.Decode(contents)
		if block == nil {
			return nil, fmt.Errorf("%s: no certificate", name)
		}
		return x509.ParseCertificate(block.Bytes)
	}
	return template.FuncMap{
		"base64": func(name string) (string, error) {
			contents, err := read(name)
			return base64.StdEncoding.EncodeToString(contents), err
		},
		"indent": func(name string) (string, error) {
			contents, err := read(name)
			lines := strings.Split(strings.TrimSpace(string(contents)), "\n")
			return strings.Join(lines, "\n    "), err
		},
		"notBefore": func(name string) (string, error) {
			read, err := certificate(name)
			if err != nil {
				return "", err
			}
			return read.NotBefore.Format(time.RFC3339), nil
		},
		"notAfter": func(name string) (string, error) {
			read, err := certificate(name)
			if err != nil {
				return "", err
			}
			return read.NotAfter.Format(time.RFC3339), nil
		},
		"issuer": func(name string) (string, error) {
			read, err := certificate(name)
			if err != nil {
				return "", err
			}
			return read.Issuer.CommonName, nil
		},
	}
}
