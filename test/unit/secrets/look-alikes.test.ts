import t from 'tap';
import { expectMarked } from './marked.ts';

// Ordinary lines that one of the rules could take for a secret.

t.test('words that are no assignment, and values that are no secret', async (t) => {
  await expectMarked(t, [
    'passwd:     files sss systemd',
    'passwd: files [SUCCESS=merge] altfiles',
    'shadow:     files\npasswd:     sss files # in this order\n',
    'etcd --auth-token=simple --auth-token-ttl=300',
    '{"level":"info","msg":"starting","auth-token":"simple","initial-cluster-token":"etcd-1"}',
    '--auth-token=jwt,pub-key=/etc/etcd/jwt.pub,sign-method=RS256',
    'cookie=0x7f3a9b2c41d5e680, duration=12.5s, table=0, n_packets=42, priority=100,in_port=1',
    'cookie=0x0/0xffffffff',
    'kpasswd         464/tcp         # Kerberos',
    '#PasswordAuthentication yes',
    'PermitEmptyPasswords no',
    'KerberosOrLocalPasswd yes',
    'password    requisite     pam_pwquality.so local_users_only retry=3',
    'password    sufficient    pam_unix.so sha512 shadow nullok use_authtok',
    'auth        required      pam_env.so',
    'passwd      install',
    'passwd-0.80-12.el9.x86_64',
    'systemd-ask-password-wall.service - Forward Password Requests to Wall Directory Watch',
    'NAME          TYPE     DATA   AGE\ndb-password   Opaque   1      5d',
    'NAME                           SECRETS   AGE\npull-secret-reader             1         5d',
    'Password: ',
    'Enter new password: Retype new password: ',
    'password: changed on 2026-11-22 by root',
    'token: expired at 2026-11-22T10:00:00Z',
    'error: passphrase: too short, must have 8 characters',
    'Secret: default/pull-secret  Reason: not found',
    'secret "router-certs-default" not found',
    'imagePullSecrets:\n- name: pull-secret',
    '      secret:\n        secretName: metrics-tls\n        defaultMode: 420',
    '    secretKeyRef:\n      name: db\n      key: password',
    'token authentication is enabled',
    'the key is a 2048-bit RSA key of "default"',
    'key sha256:0a1b2c3d4e5f60718293a4b5c6d7e8f90a1b2c3d4e5f60718293a4b5c6d7e8f9 added',
    'unable to find key openshift.io/cluster-monitoring in labels',
    'New session 3 of user core. login -- core',
    'mysqld --port=3306 --pid-file=/run/mysqld.pid',
    'docker run -u 1000:1000 -p 8080:80 app',
    'kubelet --authentication-token-webhook-cache-ttl=2m0s --bind-address 10.0.0.1',
    'Authorization: RBAC,Node',
    'Authorization: header missing',
    'Authorization: Token required by the server',
    'authorization mode: Node,RBAC',
    'response="200 OK" signature="ok"',
    'eth0@if5: <BROADCAST,MULTICAST,UP> mtu 1500',
    'user@1000.service: Started. 10:27:00 core@sno-0:22',
    'pulled docker://quay.io/a/b:4.19@sha256:0a1b2c3d',
    'mailto:admin@example.com, sip:user@example.com:5060, git@github.com:a/b.git',
    'argc=3 a0="ls" a1="-l" a2="/etc/passwd"',
    'proctitle=2F7573722F62696E2F6C73002D6C002F746D70',
    'metadata:,x=y',
    'image metadata:,Zq8mK2vW4tYxR6nB',
  ]);
});

t.test('references to values that are somewhere else', async (t) => {
  await expectMarked(t, [
    'password=$DB_PASSWORD',
    `password: \${DB_PASSWORD}`,
    `password: "\${DB_PASSWORD:?not set}"`,
    'password = $(cat /run/secrets/db)',
    'PASSWORD=$(cat /run/secrets/db) app --serve',
    'password="$(cat /run/secrets/db)" b',
    'passwd=$(getent passwd "$user")',
    'password: {{ .Values.db.password }}',
    'password: <%= @password %>',
    'password=%s token=%q secret=%v',
    'password=%(password)s',
    'password: @DB_PASSWORD@',
    'private_key = $dir/private/cakey.pem',
    '"password": getenv("DB_PASSWORD"),',
    'password = lookup("db")',
    'mysql -uroot -p$MYSQL_PASSWORD db',
    'mysql -uroot -p"$MYSQL_PASSWORD" db',
    '--from-literal=a=$A',
    'echo "$PASSWORD" | podman login --password-stdin',
    `password=«\${DB_PASSWORD:-correcthorse}»`,
  ]);
});

t.test('hashes of revisions, names and identifiers', async (t) => {
  await expectMarked(t, [
    'pod-template-hash=5d7f6c9b8',
    'controller-revision-hash: 6b8f9c7d54, pod-template-generation: "1"',
    'machineconfiguration.openshift.io/currentConfig: rendered-master-2079bbe51a9c5479ea191398a3d91c20',
    'operator.openshift.io/spec-hash: 0a1b2c3d4e5f60718293a4b5c6d7e8f90a1b2c3d4e5f60718293a4b5c6d7e8f9',
    'operator.openshift.io/dep-openshift-apiserver.etcd-client.secret: EGW8Ng==',
    'operator.openshift.io/dep-openshift-apiserver.config.configmap: pHtMAQ==',
    'kubernetes.io/config.hash: 2079bbe51a9c5479ea191398a3d91c20',
    'secret/oauth-openshift-7c9d8b6f5d-x2x7q updated',
    'token-7c9d8b6f5d-x2x7q is a pod',
    'app-token: v4-0-config-system-session',
    'secret: installer-cloud-credentials-7c9d8b6f5d',
    'the password of the kubeadmin user is in cache-proxy-image-token',
  ]);
});

t.test('what follows a marker without its end', async (t) => {
  await expectMarked(t, [
    'tls: failed to find "-----BEGIN RSA PRIVATE KEY-----" in the input, sha256:0a1b2c3d',
    'expected -----BEGIN PRIVATE KEY-----\nlog: one\nlog: two\nlog: three words\n',
    'no -----END PRIVATE KEY----- found\n',
  ]);
});
