import { createHash, randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import t from 'tap';
import { stringify } from 'yaml';
import { createAuthority } from '../../../lab/certificates/signed-now.ts';
import { createRedactor } from '../../../lib/secrets/redact/redactor.ts';
import { redacted } from './streams.ts';

const digest = (text: string) => createHash('sha256').update(text).digest('hex');
const redactor = createRedactor(
  randomBytes(32),
  Array.from({ length: 200 }, () => randomBytes(18).toString('base64')),
);

/** Real log lines that look similar to secrets. */
const LINES = [
  `pulled quay.io/openshift-release-dev/ocp-v4.0-art-dev@sha256:${digest('a')}`,
  `image="registry.example.com:5000/app:v1.2@sha256:${digest('b')}" sandbox=${digest('c')}`,
  `docker://quay.io:443/app@sha256:${digest('d')}`,
  `"imageID": "sha256:${digest('e')}", "digest": "sha512-${digest('f')}${digest('g')}"`,
  'uid: 6b6bdc57-35d7-4a39-8c8f-6ac5a6cf0f6a resourceVersion: "184467"',
  'commit 2079bbe51a9c5479ea191398a3d91c201328e2c5f13ef46 on branch main',
  'csr-7x2kq approved by system:serviceaccount:openshift-cluster-machine-approver:machine-approver-sa',
  'csr-9wkv6 Pending requestor="system:node:sno-0" signer=kubernetes.io/kubelet-serving',
  'etcd member 8e9e05c52164694d joined cluster cdf818194e3a8c32 raft-term=3',
  'dpkg: base-passwd: dependency problems, but configuring anyway as you requested:',
  'secret "foo" not found',
  'secrets "router-certs-default" is forbidden: User "system:node:sno-0" cannot get resource "secrets"',
  'references non-existent secret key: ca-bundle.crt',
  'MountVolume.SetUp failed for volume "metrics-tls" : secret "metrics-tls" not found',
  'MountVolume.SetUp succeeded for volume "kube-api-access-abcde" (UniqueName: "kubernetes.io/projected/6b6bdc57-35d7-4a39-8c8f-6ac5a6cf0f6a-kube-api-access-abcde") pod "app-5d7f6c9b8-x2x7q" (UID: "6b6bdc57-35d7-4a39-8c8f-6ac5a6cf0f6a")',
  'E1121 14:58:25.015507    4242 reflector.go:166] "Unhandled Error" err="k8s.io/client-go/informers/factory.go:160: Failed to watch *v1.Secret: failed to list *v1.Secret: Get \\"https://api-int.sno.example.com:6443/api/v1/secrets?limit=500&resourceVersion=0\\": dial tcp 192.168.7.10:6443: connect: connection refused"',
  'I1121 14:58:25.015507    4242 flags.go:64] FLAG: --rotate-certificates="true"',
  'I1121 14:58:25.015507    4242 flags.go:64] FLAG: --authentication-token-webhook="true"',
  'I1121 14:58:25.015507    4242 flags.go:64] FLAG: --authentication-token-webhook-cache-ttl="2m0s"',
  'I1121 14:58:25.015507    4242 flags.go:64] FLAG: --bootstrap-kubeconfig="/etc/kubernetes/bootstrap.kubeconfig"',
  'I1121 14:58:25.015507    4242 flags.go:64] FLAG: --tls-private-key-file="/var/lib/kubelet/pki/kubelet.key"',
  'I1121 14:58:25.015507    4242 flags.go:64] FLAG: --anonymous-auth="false" --token-auth-file=""',
  'kube-apiserver --service-account-signing-key-file=/etc/kubernetes/secrets/sa.key --enable-bootstrap-token-auth=true',
  'kube-controller-manager --use-service-account-credentials=true --controllers=*,bootstrapsigner,tokencleaner',
  'etcd --initial-cluster-token=etcd-cluster-1 --client-cert-auth=true --peer-client-cert-auth=true',
  'POST /apis/authentication.k8s.io/v1/tokenreviews 201 in 3 ms',
  'POST /api/v1/namespaces/openshift-etcd/serviceaccounts/installer-sa/token 201 audit-ID=6b6bdc57-35d7-4a39-8c8f-6ac5a6cf0f6a',
  'watching /etc/containers/auth-config and /run/secrets/kubernetes.io/serviceaccount/token',
  'tokenFile: /var/run/secrets/kubernetes.io/serviceaccount/token',
  'token=false auth=none secret=nil password=',
  'automountServiceAccountToken: false',
  'privateKey: /etc/pki/tls/private/server.pem, DB_PASSWORD=/run/secrets/db',
  'password authentication disabled',
  'error: password: must not be empty',
  'sshd[871]: Accepted publickey for core from 192.168.7.1 port 53122 ssh2: ED25519 SHA256:uNiVztksCsDhcc0u9e8BrqJXVXoDVT6ZkGLVaDyRxDU',
  'sshd[871]: Failed password for invalid user admin from 192.168.7.1 port 53122 ssh2',
  'sshd[871]: pam_unix(sshd:auth): authentication failure; logname= uid=0 euid=0 tty=ssh',
  'sudo: core : TTY=pts/0 ; PWD=/var/home/core ; USER=root ; COMMAND=/usr/bin/crictl ps',
  'sudoers: core ALL=(ALL) NOPASSWD: ALL',
  'systemd[1]: Started systemd-ask-password-console.path - Dispatch Password Requests to Console Directory Watch.',
  'systemd[1]: Reached target basic.target - Basic System.',
  'dbus: Got message type=method_call sender=:1.2 destination=org.freedesktop.systemd1 cookie=42 reply_cookie=0',
  'kernel: Command line: BOOT_IMAGE=(hd0,gpt3)/ostree/rhcos-1/vmlinuz rw root=UUID=910678ff-f77e-4a7d-8d53-86f2ac47a823 rootflags=prjquota boot=UUID=3f6b3f8e-4b1b-4f0e-9d1a-0d2f3a4b5c6d',
  'kernel: Speculative Store Bypass: Vulnerable',
  'kernel: audit: type=1130 audit(1795273028.857:42): pid=1 uid=0 auid=4294967295 ses=4294967295 subj=system_u:system_r:init_t:s0 msg=\'unit=crio comm="systemd" exe="/usr/lib/systemd/systemd" hostname=? addr=? terminal=? res=success\'',
  'kernel: x86/fpu: xstate_offset[2]:  576, xstate_sizes[2]:  256',
  "kernel: Key type dns_resolver registered; Loaded X.509 cert 'Fedora kernel signing key: 5c1bd6c70ac32a45e91f7c3d2b4a6988aabbccdd'",
  'NetworkManager: <info> device (eno1): Activation: (wifi) access point has security, but secrets are required.',
  'key-mgmt=wpa-psk psk-flags=0',
  'chronyd: Selected source 2001:db8::123 (ntp.example.com)',
  'inet6 fe80::5054:ff:fe12:3456/64 scope link; 2001:db8:0:1::10 dev br-ex',
  'time="2026-11-21T14:58:25.015507000Z" level=info msg="Created container 6b6bdc5735d74a398c8f6ac5a6cf0f6a: openshift-etcd/etcd-sno-0/etcd" id=6b6bdc57-35d7-4a39-8c8f-6ac5a6cf0f6a name=/runtime.v1.RuntimeService/CreateContainer',
  '{"level":"info","ts":"2026-11-21T14:58:25.015Z","caller":"etcdserver/server.go:2140","msg":"published local member to cluster through raft","local-member-id":"8e9e05c52164694d","client-urls":["https://192.168.7.10:2379","unixs://192.168.7.10:0"],"publish-timeout":"7s"}',
  '{"level":"warn","ts":"2026-11-21T14:58:25.015Z","caller":"embed/config_logging.go:160","msg":"rejected connection","remote-addr":"127.0.0.1:42","server-name":"","error":"EOF"}',
  '<6>Waiting for the API server to answer step=control-plane left=180s path=/readyz url=https://api-int.sno.example.com:6443/readyz',
  '<6>bootstrap-token-expirer is running token-ttl=24h0m0s',
  'http://192.168.7.10:8080,http://user@192.168.7.11:8080',
  'ssh://core@sno-0.example.com, mailto:admin@example.com',
  'https://console.example.com/auth/callback?code_challenge_method=S256&state=ready',
  'proxy: HTTPS_PROXY=http://proxy.example.com:3128 NO_PROXY=.cluster.local,10.0.0.0/8',
  'Digest: sha256 verified. Basic authentication is off; Bearer credentials are needed.',
  'cookie: none, credentials: omitted, authorization: RBAC,Node',
  'node.kubernetes.io/out-of-service key1=a key2=b',
  'I1121 14:58:25.015507    4242 event.go:377] Event(v1.ObjectReference{Kind:"Secret", Namespace:"openshift-etcd", Name:"etcd-all-certs", UID:"", APIVersion:"v1"}): type: \'Normal\' reason: \'SecretUpdated\' Updated Secret/etcd-all-certs',
  'expected 5 fields: name:token type:string; got map[kind:Secret name:etcd-client]',
  'progress 100%: wrote 3221225472 of 3221225472 bytes (50%/s) 100%25',
  'GET /api/v1/namespaces/default%2Ffoo/pods?labelSelector=app%3Dapp%2Ctier%3Dfront HTTP/1.1',
  `payload ${Buffer.from('an ordinary sentence about nothing in particular').toString('base64')}`,
  `sha256-${createHash('sha256').update('x').digest('base64')}`,
  `integrity ${createHash('sha512').update('x').digest('base64')}`,
  '/var/lib/containers/storage/overlay-containers/userdata/shm/and/a/very/long/path/of/ordinary/words',
  'configmap/kube-root-ca-certificate-publisher-controller-configuration-of-the-cluster created',
  'cost: $1$ is not a hash, nor are $5 and $6',
  `  access_token: \${OFFLINE_TOKEN:=""}, api_key: \${API_KEY`,
  'password: <ENTER_YOUR_PASSWORD>, passwd: xxxx, "password": "string"',
  '  id-token: write',
  'pass `--repo-timeout=30m` to it',
  "date -u '+%Y-%m-%dT%H:%M:%SZ'",
  'arn:*:secretsmanager:*:*:secret:aws.cluster.x-k8s.io/*',
  'such works are identified as "derived from the data"',
  'create secret generic pull-secret --from-file=.dockerconfigjson=pull-secret.json',
  '',
  '\ttabs\tand  spaces  \r',
];

/** Sources, which diagnostics print in parts. */
const CODE = [
  '\t\tAccessToken:  tk.AccessToken,',
  '\tcfg.Password = conf.Auth.Password',
  '\tregistryAuth := registry.AuthConfig{',
  '\tErrInvalidAuthToken     = Error(ErrGRPCInvalidAuthToken)',
  '\tEAUTH           = syscall.Errno(0x50)',
  '\tFS_IOC_ADD_ENCRYPTION_KEY  = 0xc0506617',
  '\t\tgeneratePass: func(p *corev1.Pod) []*corev1.Pod {',
  '        self.password = config["password"]',
  '            client_secret=None,',
];

t.test('ordinary lines are unchanged, byte for byte', async (t) => {
  for (const line of [...LINES, ...CODE]) {
    const bytes = Buffer.from(`${line}\n`);
    t.equal((await redacted(redactor.text, bytes)).toString(), bytes.toString());
  }
  const all = Buffer.from(`${LINES.join('\n')}\n`);
  t.equal((await redacted(redactor.text, all)).toString(), all.toString());
});

t.test('a journal is unchanged, byte for byte', async (t) => {
  const journal = readFileSync(new URL('fixtures/journal.txt', import.meta.url));
  t.ok((await redacted(redactor.text, journal)).equals(journal));
});

t.test('bytes that are not text are unchanged', async (t) => {
  for (const bytes of [
    randomBytes(300_000),
    Buffer.from([0xff, 0xfe, 0x0a, 0x00, 0x80, 0x0a, 0xc3]),
    Buffer.from('a\0b\0c\r\n\r\n\0'),
    Buffer.from('\n\n\n'),
    Buffer.from('caf\u00e9 \u{1f600} without a newline at its end'),
    Buffer.alloc(0),
  ]) {
    t.ok((await redacted(redactor.text, bytes)).equals(bytes));
  }
});

t.test('certificates and their descriptions are kept', async (t) => {
  const { certificate } = await createAuthority('root-ca', 1);
  const text = Buffer.from(`# CA\n${certificate}${certificate}`);
  t.ok((await redacted(redactor.text, text)).equals(text));
  const kubeconfig = Buffer.from(
    stringify({
      clusters: [{ cluster: { 'certificate-authority-data': text.toString('base64') } }],
      users: [{ user: { 'client-certificate-data': text.toString('base64') } }],
    }),
  );
  t.ok((await redacted(redactor.text, kubeconfig)).equals(kubeconfig));
});

t.test('documents without secrets keep their form', async (t) => {
  const json = Buffer.from(
    '{ "kind":"ConfigMap",\n\t"data": {"a":"1",  "token-ttl":"1h"}, "n": 1.50, "big": 12345678901234567890 }\n',
  );
  t.equal((await redacted(redactor.text, json)).toString(), json.toString());
  const yaml = Buffer.from(
    '# a comment\nmode: 0644\nkind: Pod   # here\nlist: [ a,b ]\n---\nx: |\n  y\n',
  );
  t.equal((await redacted(redactor.text, yaml)).toString(), yaml.toString());
});

t.test('everything except the secrets in a document keeps its form', async (t) => {
  const yaml = Buffer.from(
    '# a comment\nmode: 0644\npassword: hunter22 # changed\nfile: |\n  [a]\n  password = hunter22\n  b = 1\nkind: Pod\n',
  );
  t.match(
    (await redacted(redactor.text, yaml)).toString(),
    /^# a comment\nmode: 0644\npassword: (<redacted:\w{8}>) # changed\nfile: \|\n {2}\[a\]\n {2}password = \1\n {2}b = 1\nkind: Pod\n$/,
  );
});
