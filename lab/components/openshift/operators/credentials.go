package main

import (
	"context"
	"crypto/x509"
	"fmt"
	"slices"
	"time"

	"github.com/openshift/library-go/pkg/crypto"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/apiserver/pkg/authentication/user"
	"k8s.io/client-go/kubernetes"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
	clientcmdlatest "k8s.io/client-go/tools/clientcmd/api/latest"
)

const (
	apiOperator       = "openshift-kube-apiserver-operator"
	managerOperator   = "openshift-kube-controller-manager-operator"
	leafLifetime      = 30 * 24 * time.Hour
	authorityLifetime = 365 * 24 * time.Hour
)

// files are the contents of a Secret.
type files map[string][]byte

// keyring has the keys that the bootstrap's manifests left in the cluster. No other key of the
// bootstrap is used: what is missing is issued anew. Its first error ends its work.
type keyring struct {
	ctx  context.Context
	kube kubernetes.Interface
	err  error
}

func (k *keyring) secret(namespace, name, key string) []byte {
	if k.err != nil {
		return nil
	}
	secret, err := k.kube.CoreV1().Secrets(namespace).Get(k.ctx, name, metav1.GetOptions{})
	if err != nil {
		k.err = err
		return nil
	}
	return k.found(secret.Data[key], namespace, name, key)
}

func (k *keyring) configMap(namespace, name, key string) []byte {
	if k.err != nil {
		return nil
	}
	configMap, err := k.kube.CoreV1().ConfigMaps(namespace).Get(k.ctx, name, metav1.GetOptions{})
	if err != nil {
		k.err = err
		return nil
	}
	return k.found([]byte(configMap.Data[key]), namespace, name, key)
}

func (k *keyring) found(contents []byte, namespace, name, key string) []byte {
	if len(contents) == 0 {
		k.err = fmt.Errorf("%s/%s has no %s", namespace, name, key)
	}
	return contents
}

// signer is an authority that is kept in a Secret.
func (k *keyring) signer(namespace, name string) *crypto.CA {
	certificate, key := k.secret(namespace, name, "tls.crt"), k.secret(namespace, name, "tls.key")
	if k.err != nil {
		return nil
	}
	authority, err := crypto.GetCAFromBytes(certificate, key)
	k.err = err
	return authority
}

// ensureSigner creates the Secret with an authority of its own unless it exists.
func (k *keyring) ensureSigner(namespace, name string) *crypto.CA {
	if k.err != nil {
		return nil
	}
	_, err := k.kube.CoreV1().Secrets(namespace).Get(k.ctx, name, metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		var authority *crypto.TLSCertificateConfig
		authority, err = crypto.MakeSelfSignedCAConfigForDuration(namespace+"_"+name, authorityLifetime)
		if err == nil {
			contents := files{}
			k.add(contents, "tls", authority)
			_, err = k.kube.CoreV1().Secrets(namespace).Create(k.ctx, &corev1.Secret{
				ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name},
				Type:       corev1.SecretTypeTLS,
				Data:       contents,
			}, metav1.CreateOptions{})
		}
	}
	if err != nil {
		k.err = err
		return nil
	}
	return k.signer(namespace, name)
}

// add encodes a certificate and its key as <name>.crt and <name>.key.
func (k *keyring) add(contents files, name string, pair *crypto.TLSCertificateConfig) {
	certificate, key, err := pair.GetPEMBytes()
	if err != nil {
		k.err = err
		return
	}
	contents[name+".crt"], contents[name+".key"] = certificate, key
}

// server adds a server's certificate.
func (k *keyring) server(contents files, name string, signer *crypto.CA, hosts ...string) {
	if k.err != nil {
		return
	}
	pair, err := signer.MakeServerCertForDuration(sets.New(hosts...), leafLifetime, byKeyOfSigner)
	if k.err = err; err == nil {
		k.add(contents, name, pair)
	}
}

// client adds a client's certificate.
func (k *keyring) client(contents files, name string, signer *crypto.CA, commonName string, groups ...string) {
	if k.err != nil {
		return
	}
	public, private, err := crypto.NewKeyPair()
	if err != nil {
		k.err = err
		return
	}
	subject := crypto.UserToSubject(&user.DefaultInfo{Name: commonName, Groups: groups})
	template := crypto.NewClientCertificateTemplateForDuration(subject, leafLifetime, time.Now)
	_ = byKeyOfSigner(template)
	certificate, err := signer.SignCertificate(template, public)
	if k.err = err; err == nil {
		k.add(contents, name, &crypto.TLSCertificateConfig{Certs: []*x509.Certificate{certificate}, Key: private})
	}
}

// byKeyOfSigner takes the signature algorithm from the signer's key, which need not be RSA.
func byKeyOfSigner(template *x509.Certificate) error {
	template.SignatureAlgorithm = x509.UnknownSignatureAlgorithm
	return nil
}

// kubeconfig is that of a new client for this host's API server.
func (k *keyring) kubeconfig(signer *crypto.CA, commonName string, groups ...string) []byte {
	own := files{}
	k.client(own, "client", signer, commonName, groups...)
	bundle := k.servers()
	if k.err != nil {
		return nil
	}
	const name = "localhost"
	config := clientcmdapi.NewConfig()
	config.Clusters[name] = &clientcmdapi.Cluster{Server: "https://localhost:6443", CertificateAuthorityData: bundle}
	config.AuthInfos[name] = &clientcmdapi.AuthInfo{ClientCertificateData: own["client.crt"], ClientKeyData: own["client.key"]}
	config.Contexts[name] = &clientcmdapi.Context{Cluster: name, AuthInfo: name}
	config.CurrentContext = name
	text, err := runtime.Encode(clientcmdlatest.Codec, config)
	k.err = err
	return text
}

// certificate is an authority's own.
func (k *keyring) certificate(authority *crypto.CA) []byte {
	if k.err != nil {
		return nil
	}
	certificate, err := crypto.EncodeCertificates(authority.Config.Certs...)
	k.err = err
	return certificate
}

// servers are the authorities of the API server's certificates.
func (k *keyring) servers() []byte {
	var bundle []byte
	for _, name := range []string{"localhost-serving-signer", "service-network-serving-signer", "loadbalancer-serving-signer"} {
		bundle = slices.Concat(bundle, k.secret(apiOperator, name, "tls.crt"))
	}
	return bundle
}
