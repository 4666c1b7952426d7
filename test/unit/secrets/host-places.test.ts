import t from 'tap';
import { hostSecrets } from '../../../agents/gather/host-secrets/host-secrets.ts';
import { dataUrl } from '../../../lib/render/ignition/data-url.ts';
import { hostRoot } from './host-root.ts';

const base64 = (text: string) => Buffer.from(text).toString('base64');
const WIREGUARD = 'yAnz5TF+lXXJte14tji3zlMNq+hd2rYUIgJBgB3fBmk=';
const PRESHARED = 'FpCyhws9cxwWoV4xELtfJvjJN+zQVRPISllRWgeopVE=';
const CEPH = 'AQAj5RlkAAAAABAAq3sWkPq8mD2KzQvV7uJYtA==';
const GRUB =
  'grub.pbkdf2.sha512.10000.7F3A0C1B9D2E4F5A60718293A4B5C6D7.8E9FA0B1C2D3E4F5061728394A5B6C7D';
const HASH = '$y$j9T$F5Jx5fExrKuPp53xLKQ..1$X3DX6M94c7o.9agCG9G317fhZg9SqC.5i5rd.RhAtQ7';
const pod = '/var/lib/kubelet/pods/6b6bdc57-35d7-4a39-8c8f-6ac5a6cf0f6a';
const at = '..2026_11_22_09_14_02.1733';
const json = (value: unknown) => JSON.stringify(value);

interface Held {
  readonly path: string;
  /** Secrets stand in `«»`. */
  readonly contents: string;
  /** Decoded values, where the format encodes them. */
  readonly meant?: readonly string[];
  /** Values that must not be learned. */
  readonly ordinary?: readonly string[];
}

const held = (
  path: string,
  contents: string,
  more: Omit<Held, 'path' | 'contents'> = {},
): Held => ({
  path,
  contents,
  ...more,
});

const HELD: readonly Held[] = [
  held(
    '/etc/sno-agents/report-to.json',
    '{"apiVersion":"sno-agents/v1","kind":"ReportTo","url":"https://hub.example.com/r","token":"«TokenOfTheSite77»"}',
    { ordinary: ['https://hub.example.com/r'] },
  ),
  held(
    '/etc/sno-agents/backup-to.json',
    '{"kind":"BackupTo","s3":{"endpoint":"https://store.example.com","bucket":"edge-backups","accessKeyId":"edge","secretAccessKey":"«SecretOfTheStore/77+»"}}',
    { ordinary: ['https://store.example.com', 'edge-backups'] },
  ),
  held(
    '/etc/iscsi/iscsid.conf',
    'node.session.auth.username = storage-initiator\nnode.session.auth.password = «c4lm; river & stone»\ndiscovery.sendtargets.auth.password_in = «mutual-chap-91»\n',
    { ordinary: ['storage-initiator'] },
  ),
  held(
    '/var/lib/iscsi/nodes/iqn.2026-01.com.example:a/10.0.0.7,3260,1/default',
    '# BEGIN RECORD 6.2\nnode.session.auth.password = «OtherTarget77»\n',
  ),
  held(
    '/etc/wireguard/wg0.conf',
    `[Interface]\nPrivateKey = «${WIREGUARD}»\n[Peer]\nPresharedKey=«${PRESHARED}»\n[Peer]\nPublicKey = HIgo9xNzJMWLKASShiTqIybxZ0U3wGLiUeJ1PKf8ykw=\n`,
    { ordinary: ['HIgo9xNzJMWLKASShiTqIybxZ0U3wGLiUeJ1PKf8ykw='] },
  ),
  held(
    '/etc/systemd/network/30-wg.netdev',
    '[WireGuard]\nPrivateKey=«MEh4ZWxsb1dvcmxkMTIzNDU2Nzg5MGFiY2RlZmdoaWo=»\n',
  ),
  held(
    '/etc/ipsec.secrets',
    ': PSK "«shared by both; ends»"\ncarol@example.com : EAP "«EapWordOfCarol9»"\n: RSA host-key.pem "«opens the key»"\n',
    { ordinary: ['host-key.pem', 'carol@example.com'] },
  ),
  held('/etc/ipsec.d/site.secrets', '10.0.0.1 10.0.0.2 : PSK 0s«c2l0ZS10by1zaXRlLXNlY3JldA==»\n'),
  held(
    '/etc/swanctl/swanctl.conf',
    'secrets {\n  ike-home {\n    secret = "«a phrase for home»"\n  }\n}\n',
  ),
  held('/etc/ppp/chap-secrets', '# client server secret IP\nbranch  *  "«dial in word 5»"  *\n'),
  held(
    '/etc/NetworkManager/system-connections/home.nmconnection',
    '[wifi-security]\npsk=«two words; and & more»\n[vpn-secrets]\nIPSec secret=«group password one»\n',
    { ordinary: ['wifi-security'] },
  ),
  held(
    '/etc/wpa_supplicant/wpa_supplicant-wlan0.conf',
    'network={\n  ssid="guest network"\n  psk="«we like long ones»"\n}\n',
    { ordinary: ['guest network'] },
  ),
  held(
    '/etc/nmstate/net.yml',
    'interfaces:\n- name: eno1\n  802.1x:\n    password: «radius; word & all»\n',
  ),
  held('/etc/multipath/conf.d/array.conf', 'overrides {\n  api_password "«array word; 0»"\n}\n'),
  held('/etc/fstab', '//nas/share /mnt cifs username=sno,password=«Nas-Share-77» 0 0\n'),
  held(
    '/etc/ceph/ceph.client.admin.keyring',
    `[client.admin]\n\tkey = «${CEPH}»\n\tcaps mon = "allow *"\n`,
  ),
  held(
    '/etc/chrony.keys',
    '1 SHA256 HEX:«1DC764E0791B11FA67EFC7ECBC4B0D73F68A070C»\n20 ASCII:«ntp-word-of-site»\n',
  ),
  held(
    '/etc/rndc.key',
    'key "rndc-key" {\n\talgorithm hmac-sha256;\n\tsecret "«qWJ7bC0Jr0gJc0F3f1+0lC9QG8tWqk0dW5yPz0Xy3mE=»";\n};\n',
    { ordinary: ['hmac-sha256', 'rndc-key'] },
  ),
  held('/etc/named/keys.conf', 'key "transfer" { secret «bm90LWEtcmVhbC1rZXktYXQtYWxs»; };\n'),
  held(
    '/etc/keepalived/keepalived.conf',
    'authentication {\n  auth_type PASS\n  auth_pass «vrrp-w0rd»\n}\n',
  ),
  held(
    '/etc/sssd/sssd.conf',
    '[domain/x]\nldap_default_bind_dn = cn=reader,dc=example,dc=com\nldap_default_authtok = «bind as reader»\n',
    { ordinary: ['cn=reader,dc=example,dc=com'] },
  ),
  held(
    '/etc/yum.repos.d/site.repo',
    '[site]\nbaseurl=https://mirror.example.com/\nusername=installer\npassword=«repo word & more»\n',
    { ordinary: ['installer'] },
  ),
  held(
    '/etc/rhsm/rhsm.conf',
    '[server]\nproxy_user = rhsm-proxy\nproxy_password = «ProxyOfRhsm1»\n',
    { ordinary: ['rhsm-proxy'] },
  ),
  held(
    '/etc/apt/auth.conf.d/site.conf',
    'machine apt.example.com\nlogin reader-of-apt\npassword «apt-mirror-word»\n',
    { ordinary: ['reader-of-apt'] },
  ),
  held('/boot/grub2/user.cfg', `GRUB2_PASSWORD=«${GRUB}»\n`),
  held('/boot/efi/EFI/redhat/user.cfg', `password_pbkdf2 root «${GRUB.replace('7F3A', '8A4B')}»\n`),
  held('/boot/grub2/grub.cfg', 'set superusers="operator"\npassword operator «boot-menu-word»\n'),
  held(
    '/var/lib/cloud/instances/i-0a1b/user-data.txt',
    '#cloud-config\nchpasswd:\n  expire: false\n  list: |\n    root:«first boot word»\n    core:«Second;Boot&Word»\nusers:\n  - name: operator-account\n    plain_text_passwd: "«in plain text 1»"\n',
    { ordinary: ['operator-account'] },
  ),
  held(
    '/run/cloud-init/instance-data-sensitive.json',
    json({ userdata: '#cloud-config\npassword: «cloud init; word»\nruncmd: []\n' }),
  ),
  held(
    '/etc/sysconfig/app',
    '# for the application\nexport APP_PASSWORD=\'«blank; semi & amp»\' APP_MODE=production-like\nOTHER_TOKEN="«Zx81-Spectrum+ok»" # reaches the hub\n',
    { ordinary: ['production-like', 'reaches the hub'] },
  ),
  held('/etc/default/agent', 'AGENT_OPTS="--level=info"\nAGENT_SECRET_KEY=«it\'s one»\n'),
  held(
    '/etc/profile.d/proxy.sh',
    'export https_proxy="http://builder:«p%40ss%2Fword%209»@proxy.example.com:3128"\n',
    { meant: ['p@ss/word 9'], ordinary: ['proxy.example.com:3128'] },
  ),
  held('/etc/proxy/env', 'HTTP_PROXY=http://builder:«raw@sign#9»@proxy.example.com:3128\n'),
  held('/etc/environment', 'DB_PASSWORD="«one; two & three»"\n'),
  held(
    '/etc/systemd/system.conf.d/10-default-env.conf',
    '[Manager]\nDefaultEnvironment=HTTPS_PROXY="http://u:«unit%%21word»@proxy:3128" NO_PROXY="localhost.example.com"\n',
    { meant: ['unit!word'], ordinary: ['localhost.example.com'] },
  ),
  held(
    '/etc/systemd/system/app.service.d/10-env.conf',
    '[Service]\nEnvironment="API_PASSWORD=«with a blank;»" \'SECOND_PASSWORD=«single quotes & x»\' \\\n  THIRD_PASSWORD=continued\\x20word9\nExecStart=/usr/bin/app --user operator --db-password "«as next word»"\nSetCredential=token:«given to the unit»\n',
    { meant: ['continued word9'], ordinary: ['/usr/bin/app'] },
  ),
  held('/etc/systemd/system/worker.service', '[Service]\nEnvironmentFile=-/opt/worker/env\n'),
  held('/opt/worker/env', 'WORKER_PASSWORD=«named by a unit»\n'),
  held(
    '/run/containers/storage/overlay-containers/4f3a/userdata/config.json',
    json({ process: { env: ['TERM=xterm-256color', 'DB_PASSWORD=«from; a Secret & all»'] } }),
    { ordinary: ['xterm-256color'] },
  ),
  held(
    '/run/containerd/io.containerd.runtime.v2.task/k8s.io/5b4c/config.json',
    json({ process: { env: ['QUEUE_PASSWORD=«of a queue»'] } }),
  ),
  held(
    '/run/containerd/io.containerd.runtime.v2.task/k8s.io/5b4c/rootfs/config.json',
    '{"password":"root-fs-of-a-pod"}',
    { ordinary: ['root-fs-of-a-pod'] },
  ),
  held(
    '/proc/cmdline',
    'BOOT_IMAGE=(hd0,gpt3)/vmlinuz rd.iscsi.password=«target-word-1» netroot=iscsi:initiator:«TargetWord3»@10.0.0.9::3260::iqn.2026\n',
    { ordinary: ['initiator', '10.0.0.9'] },
  ),
  held(
    '/etc/shadow',
    `core:«${HASH}»:19000:0:99999:7:::\nroot:!«${HASH.replace('F5Jx', 'G6Ky')}»:1::::::\n`,
  ),
  held(
    '/etc/crio/crio.conf.d/10.conf',
    '[crio.image]\n[auth]\npassword = "«toml \\"quoted\\" one»"\n',
    { meant: ['toml "quoted" one'] },
  ),
  held(
    '/etc/machine-config-daemon/currentconfig',
    json({
      kind: 'MachineConfig',
      spec: {
        config: {
          storage: {
            files: [
              { path: '/etc/app.ini', contents: dataUrl('[app]\npassword=of a machine; config\n') },
            ],
          },
        },
      },
    }),
    { meant: ['of a machine; config'] },
  ),
  held(
    '/etc/kubernetes/cloud.conf',
    '[Global]\nuser = "administrator@vsphere.local"\npassword = "«vCenter; says & so»"\n',
    { ordinary: ['administrator@vsphere.local'] },
  ),
  held(
    '/etc/kubernetes/static-pod-resources/x-1/secrets/login/phrase',
    '«correct horse battery staple»\n',
  ),
  held('/run/credentials/app.service/db', '«credential of app»'),
  held(
    '/root/.netrc',
    'machine git.example.com login deploy-robot password «netrc-of-root»\nmachine b.example.com\n  login x\n  password "«quoted in netrc»"\n',
    { ordinary: ['deploy-robot', 'git.example.com'] },
  ),
  held(
    '/root/.docker/config.json',
    json({ auths: { r: { auth: base64('robot:registry;word') } } }),
    { meant: [base64('robot:registry;word'), 'registry;word'] },
  ),
  held('/var/roothome/.git-credentials', 'https://deploy:«gh%2Bpat%3Dvalue»@git.example.com\n', {
    meant: ['gh+pat=value'],
  }),
  held(
    '/var/home/core/.aws/credentials',
    '[default]\naws_access_key_id = «AKIAQ3EGUZLN7EXAMPLE»\naws_secret_access_key = «wJalrXUtnFEMI/K7MDENG/bPxRfiCYzEXAMPLEKE»\n',
  ),
  held(
    '/var/home/core/.kube/config',
    'apiVersion: v1\nkind: Config\nusers:\n- name: admin\n  user:\n    password: "«kube; basic & auth»"\n    token: «sha256~Qh5bT7kq0vV3mS1xZ8cR2nW6yL4pJ9dF»\n',
  ),
  held('/home/alice/.pgpass', 'db.example.com:5432:*:alice:colon\\:inside it\n', {
    meant: ['colon:inside it'],
    ordinary: ['db.example.com'],
  }),
  held(
    '/home/alice/.my.cnf',
    '[client]\nuser = alice-of-sales\npassword = "«mysql # hash word»"\n',
    { ordinary: ['alice-of-sales'] },
  ),
  held('/home/alice/.npmrc', '//registry.example.com/:_authToken=«npmTokenOfAlice42»\n'),
  held('/home/alice/.vault-token', '«s.Vq8mK2vW4tYxB1nD»'),
  held(
    `${pod}/volumes/kubernetes.io~secret/creds/${at}/deep/er/password`,
    '«item on a path; deep»',
  ),
  held(`${pod}/volumes/kubernetes.io~secret/creds/${at}/username`, 'service-account-of-db', {
    ordinary: ['service-account-of-db'],
  }),
  held(`${pod}/volume-subpaths/creds/app/0`, '«older; value & all»'),
  held(`${pod}/volume-subpaths/data/app/0`, 'password=of-the-container\n', {
    ordinary: ['of-the-container'],
  }),
  held(
    `${pod}/volumes/kubernetes.io~csi/vault/vol_data.json`,
    json({ driverName: 'secrets-store.csi.k8s.io' }),
  ),
  held(`${pod}/volumes/kubernetes.io~csi/vault/mount/${at}/db-password`, '«from the store; 1»'),
  held(`${pod}/volumes/kubernetes.io~csi/pvc-1/vol_data.json`, json({ driverName: 'topolvm.io' })),
  held(`${pod}/volumes/kubernetes.io~csi/pvc-1/mount/app.conf`, 'password=data-of-a-volume\n', {
    ordinary: ['data-of-a-volume'],
  }),
  held(`${pod}/volumes/kubernetes.io~empty-dir/x/y`, 'password=scratch-of-a-pod\n', {
    ordinary: ['scratch-of-a-pod'],
  }),
  held(
    '/var/lib/kubelet/plugins/kubernetes.io/csi/x.csi/4f3a/vol_data.json',
    json({ nodePublishSecret: { password: '«csi; publish word»' } }),
  ),
  held(
    '/var/lib/kubelet/plugins/kubernetes.io/csi/x.csi/4f3a/globalmount/vol_data.json',
    '{"password":"named-like-a-record"}',
    { ordinary: ['named-like-a-record'] },
  ),
  held(
    '/var/lib/kubelet/plugins/kubernetes.io/csi/x.csi/4f3a/globalmount/app.conf',
    'password=global-mount-data\n',
    { ordinary: ['global-mount-data'] },
  ),
];

/** The marked values of a text. */
const marked = (text: string) => [...text.matchAll(/«([^«»]*)»/g)].map(([, secret = '']) => secret);

t.test('each place where a host has secrets is read in its own format', async (t) => {
  const files = HELD.map(({ path, contents }) => [path, contents.replace(/[«»]/g, '')]);
  const root = await hostRoot(t, Object.fromEntries(files));
  const failed: string[] = [];
  const found = new Set(
    await hostSecrets(root, AbortSignal.timeout(60_000), (...failure) =>
      failed.push(failure.join(': ')),
    ),
  );
  t.strictSame(failed, []);
  for (const { path, contents, meant = [], ordinary = [] } of HELD) {
    for (const secret of [...marked(contents), ...meant])
      t.ok(found.has(secret), `${path}: ${secret}`);
    for (const value of ordinary) t.notOk(found.has(value), `${path}: not ${value}`);
  }
});
