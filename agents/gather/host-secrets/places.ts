import {
  chpasswd,
  chronyKeys,
  grub,
  ipsecSecrets,
  pgpass,
  podmanSecrets,
  pppSecrets,
  whole,
} from '../../../lib/secrets/formats/credentials.ts';
import { units } from '../../../lib/secrets/formats/units.ts';
import type { FileKind } from '../../../lib/secrets/redact/secrets-in.ts';
import type { SecretTree } from './files.ts';
import { podOfContainer } from './pods.ts';

/** Where secrets are, and in which format. */
export interface SecretPlace extends SecretTree, Partial<Omit<FileKind, 'owner'>> {
  /** Whose the secrets in a file are, if not the host's own: by its path below the root, and its contents. */
  readonly ownerOf?: (path: string, text: string) => string;
  /** Paths of files whose contents are one value of a Secret. */
  readonly values?: RegExp;
}

const place = (
  path: string,
  depth?: number,
  more: Omit<SecretPlace, 'path' | 'depth'> = {},
): SecretPlace => ({
  path,
  ...(depth === undefined ? {} : { depth }),
  ...more,
});

const ISCSI = { names: /\.auth\.password(?:_in)?$/ };
const IPSEC = { read: ipsecSecrets, names: /^secret$/ };
const UNITS = { read: units };
const KEYFILES = { names: /(?:^|\s)(?:secret|pin|password(?:-raw)?|.*-password)$/i };
const CEPH = { names: /^key$/, only: /(?:keyring|\.conf|\.secret)$/ };
const PODMAN = { read: podmanSecrets, only: /^secretsdata\.json$/ };
const NAMED = { names: /^secret$/ };

/** Registry credentials, decisions of `sno create` and the installer, environment of programs. */
const CONFIGURATION: readonly SecretPlace[] = [
  place('/var/lib/kubelet/config.json'),
  place('/run/containers/0/auth.json'),
  place('/etc/ostree/auth.json'),
  place('/run/ostree/auth.json'),
  // What podman keeps of `podman secret create`.
  place('/var/lib/containers/storage/secrets/filedriver', 1, PODMAN),
  place('/etc/containerd', 4),
  place('/etc/crio', 2),
  place('/etc/containers', 3),
  place('/etc/sno-agents', 2),
  place('/etc/mco', 1),
  place('/etc/environment'),
  place('/etc/environment.d', 1),
  place('/etc/proxy', 1),
  place('/etc/profile.d', 1),
  place('/etc/sysconfig', 2),
  place('/etc/default', 2),
  place('/etc/systemd', 3, UNITS),
  place('/run/systemd/system', 2, UNITS),
  place('/run/systemd/network', 2, UNITS),
  place('/usr/local/lib/systemd/system', 2, UNITS),
  place('/proc/cmdline'),
  place('/etc/shadow'),
  place('/etc/shadow-'),
  place('/etc/gshadow'),
];

/** Keys of the kubelet, the control plane and the operators. */
const CLUSTER: readonly SecretPlace[] = [
  place('/var/lib/kubelet/pki', 1),
  place('/var/lib/kubelet/kubeconfig'),
  place('/etc/kubernetes', 7, { values: /\/static-pod-resources\/.*\/secrets\// }),
  place('/etc/mcs', 2),
  place('/etc/mcs-machine-config-content.json'),
  place('/etc/ignition-machine-config-encapsulated.json'),
  place('/etc/machine-config-daemon', 5),
  place('/etc/ssl/mcs', 1),
  place('/opt/openshift/auth/kubeadmin-password', undefined, { read: whole }),
  place('/opt/openshift', 4),
  place('/boot/ignition', 1),
  place('/run/ignition.json'),
];

/** Networks, storage, boot, packages. */
const SERVICES: readonly SecretPlace[] = [
  place('/etc/NetworkManager/system-connections', 1, KEYFILES),
  place('/run/NetworkManager/system-connections', 1, KEYFILES),
  place('/etc/nmstate', 2),
  place('/etc/wpa_supplicant', 1),
  place('/etc/wireguard', 2),
  place('/etc/ipsec.secrets', undefined, IPSEC),
  place('/etc/ipsec.d', 2, IPSEC),
  place('/etc/strongswan', 4, IPSEC),
  place('/etc/swanctl', 2, IPSEC),
  place('/etc/openvpn', 2),
  place('/etc/ppp', 1, { read: pppSecrets, only: /^(?:chap|pap)-secrets$/ }),
  place('/etc/iscsi', 2, ISCSI),
  place('/var/lib/iscsi', 5, ISCSI),
  place('/etc/multipath.conf'),
  place('/etc/multipath', 2),
  place('/etc/fstab'),
  place('/etc/ceph', 1, CEPH),
  place('/etc/chrony.keys', undefined, { read: chronyKeys }),
  place('/etc/ntp/keys', undefined, { read: chronyKeys }),
  place('/etc/rndc.key', undefined, NAMED),
  place('/etc/rndc.conf', undefined, NAMED),
  place('/etc/named*', 1, NAMED),
  place('/etc/keepalived', 2),
  place('/etc/sssd', 2, { names: /authtok$/ }),
  place('/etc/yum.conf'),
  place('/etc/yum.repos.d', 1),
  place('/etc/dnf', 2),
  place('/etc/rhsm', 2),
  place('/etc/zypp/credentials.d', 1),
  place('/etc/apt', 2, { only: /^(?:auth\.conf|.*\.conf|.*\.list|.*\.sources)$/ }),
  place('/etc/pki/tls/private', 1),
  place('/etc/pki/consumer', 1),
  place('/etc/pki/entitlement', 1),
  place('/etc/ssl/private', 1),
  place('/etc/ssh', 1, { only: /_key$|config|\.conf$/ }),
  place('/boot/grub2/user.cfg', undefined, { read: grub }),
  place('/boot/grub2/grub.cfg', undefined, { read: grub }),
  place('/boot/grub/user.cfg', undefined, { read: grub }),
  place('/boot/grub/grub.cfg', undefined, { read: grub }),
  place('/boot/efi/EFI/*/user.cfg', undefined, { read: grub }),
  place('/boot/efi/EFI/*/grub.cfg', undefined, { read: grub }),
  place('/run/credentials', 2, { read: whole }),
  place('/etc/credstore', 1, { read: whole }),
  place('/run/credstore', 1, { read: whole }),
  place('/run/cloud-init', 2, { read: chpasswd }),
  place('/var/lib/cloud', 4, { read: chpasswd, without: /^(?:sem|handlers|scripts)$/ }),
];

/** Files of users and of programs that they run. */
const IN_HOME: readonly SecretPlace[] = [
  place('.docker', 1),
  place('.config/containers', 1),
  place('.kube', 1),
  place('.local/share/containers/storage/secrets/filedriver', 1, PODMAN),
  place('.netrc'),
  place('.git-credentials'),
  place('.config/git', 1),
  place('.aws', 1),
  place('.azure', 1, { only: /\.json$/ }),
  place('.config/gcloud', 1, { only: /\.json$/ }),
  place('.pgpass', undefined, { read: pgpass }),
  place('.my.cnf'),
  place('.npmrc'),
  place('.pypirc'),
  place('.config/gh', 1),
  place('.vault-token', undefined, { read: whole }),
  place('.ssh', 1),
];

const inHome = (home: string): SecretPlace[] =>
  IN_HOME.map((own) => ({ ...own, path: `${home}/${own.path}` }));

/** Those most often seen in logs come first. */
export const PLACES: readonly SecretPlace[] = [
  ...CONFIGURATION,
  ...['/root', '/var/roothome'].flatMap(inHome),
  ...CLUSTER,
  ...SERVICES,
];

const userOf = (path: string) => /^(?:\/var)?\/home\/[^/]*/.exec(path)?.[0] ?? path;

/** Read last: users can fill them. */
export const HOMES: readonly SecretPlace[] = [
  place('/run/user/*/containers/auth.json'),
  ...['/var/home/*', '/home/*'].flatMap(inHome),
].map((each) => ({ ...each, ownerOf: userOf }));

/** The kubelet's folder of pods. */
export const PODS = '/var/lib/kubelet/pods';
/** The environment of a container is among the secrets of its pod. */
const CONTAINER_CONFIG = {
  only: /^config\.json$/,
  ownerOf: (path: string, text: string) => podOfContainer(text) ?? path,
};

/** Records of the runtime and the kubelet about containers and volumes, whose data is not read. */
export const CONTAINERS: readonly SecretPlace[] = [
  place('/run/containers/storage/overlay-containers', 3, CONTAINER_CONFIG),
  place('/run/containerd/io.containerd.runtime.v2.task/k8s.io', 2, CONTAINER_CONFIG),
  place('/var/lib/kubelet/plugins/kubernetes.io/csi', 4, {
    only: /^vol_data\.json$/,
    without: /^(?:globalmount|mount|dev|staging)$/,
  }),
];
