import t from 'tap';
import { hostSecrets } from '../../../agents/gather/host-secrets/host-secrets.ts';
import { hostRoot } from './host-root.ts';

/** Places whose formats are those of others, with a generic file. */
const PLAIN = [
  '/etc/containers/registries.conf.d/site.conf',
  '/etc/mco/proxy.env',
  '/etc/environment.d/10.conf',
  '/run/systemd/system/x.service.d/10.conf',
  '/run/systemd/network/10.netdev',
  '/usr/local/lib/systemd/system/x.service',
  '/boot/ignition/config.txt',
  '/boot/grub/grub.cfg',
  '/boot/grub/user.cfg',
  '/boot/efi/EFI/fedora/grub.cfg',
  '/etc/mcs/bootstrap/config',
  '/etc/ssl/mcs/config',
  '/etc/mcs-machine-config-content.json',
  '/etc/ignition-machine-config-encapsulated.json',
  '/run/NetworkManager/system-connections/a.nmconnection',
  '/etc/strongswan/strongswan.d/charon/eap.conf',
  '/etc/openvpn/client/site.conf',
  '/etc/multipath.conf',
  '/etc/rndc.conf',
  '/etc/named.conf',
  '/etc/yum.conf',
  '/etc/dnf/dnf.conf',
  '/etc/zypp/credentials.d/site',
  '/etc/pki/tls/private/x.key',
  '/etc/pki/consumer/key.pem',
  '/etc/pki/entitlement/1-key.pem',
  '/etc/ssl/private/x.key',
  '/etc/ssh/ssh_host_ed25519_key',
  '/etc/credstore/x',
  '/run/credstore/x',
  '/run/containers/0/auth.json',
  '/run/ignition.json',
  '/etc/ostree/auth.json',
  '/run/user/1000/containers/auth.json',
  '/var/lib/kubelet/kubeconfig',
  '/root/.config/containers/auth.json',
  '/root/.config/git/credentials',
  '/root/.config/gh/hosts.yml',
  '/root/.azure/msal_token_cache.json',
  '/root/.config/gcloud/application_default_credentials.json',
  '/root/.pypirc',
  '/root/.ssh/id_ed25519',
];

const GROUP = '$6$saltsalt$Zq8mK2vW4tYxR6nBd3E4fG5h6IjK7L8m';

t.test('each other place is read', async (t) => {
  const word = (index: number) => `Tq7-word-${index}-of`;
  const files = PLAIN.map((path, index) => [path, `app_password=${word(index)}\n`]);
  const ntp = ['/etc/ntp/keys', '3 M NtpKeyWord1\n'];
  const group = ['/etc/gshadow', `wheel:${GROUP}::\n`];
  const podman = [
    'secretsdata.json',
    `{"0a1b":"${Buffer.from('PodmanWord1').toString('base64')}"}`,
  ];
  const own = [
    [`/var/lib/containers/storage/secrets/filedriver/${podman[0]}`, podman[1]],
    ['/opt/openshift/auth/kubeadmin-password', 'a1b2c-D3e4f-g5H6i-j7k8L'],
    [
      '/etc/sno-agents/public.env',
      'A_TOKEN=6b6bdc57-35d7-4a39-8c8f-6ac5a6cf0f6a\nB_SECRET=aes-256-gcm\n',
    ],
  ];
  const found = await hostSecrets(
    await hostRoot(t, Object.fromEntries([...files, ntp, group, ...own])),
    AbortSignal.timeout(60_000),
  );
  for (const [index, path] of PLAIN.entries()) t.ok(found.includes(word(index)), path);
  t.ok(found.includes('NtpKeyWord1'));
  t.ok(found.includes(GROUP));
  t.ok(found.includes('PodmanWord1'));
  t.ok(found.includes('a1b2c-D3e4f-g5H6i-j7k8L'));
  t.notOk(found.includes('6b6bdc57-35d7-4a39-8c8f-6ac5a6cf0f6a'), 'a UUID is not learned');
  t.notOk(found.includes('aes-256-gcm'), 'nor the name of a cipher');
});
