import type { IgnitionConfig } from '../../../../lib/render/ignition/config.ts';
import { clusterConfig, clusterVersion, file, INSTALL_CONFIG } from './installer-ignition.ts';

export interface BadCase {
  name: string;
  /** Of what the installer of 4.19 writes. */
  change?: (config: IgnitionConfig) => void;
  /** Instead of it. */
  text?: string;
  args?: string[];
  /** Files beside it, and in the folder of the outputs. */
  beside?: Record<string, string>;
  own?: Record<string, string>;
  says: RegExp;
}

const add =
  (path: string, text = 'x') =>
  (config: IgnitionConfig) => {
    config.storage?.files?.push(file(path, text));
  };
const addUnit = (unit: NonNullable<NonNullable<IgnitionConfig['systemd']>['units']>[number]) =>
  function push(config: IgnitionConfig) {
    config.systemd?.units?.push(unit);
  };
/** With other contents in a file. */
const set = (path: string, text: string) => (config: IgnitionConfig) => {
  const { files = [] } = config.storage ?? {};
  files.splice(
    files.findIndex((each) => each.path === path),
    1,
    file(path, text),
  );
};
const without = (path: string) => (config: IgnitionConfig) => {
  const { files = [] } = config.storage ?? {};
  files.splice(
    files.findIndex((each) => each.path === path),
    1,
  );
};
const install = (fields: object) =>
  set(
    '/opt/openshift/manifests/cluster-config.yaml',
    clusterConfig({ ...INSTALL_CONFIG, ...fields }),
  );
const channel = (name: string) =>
  set('/opt/openshift/manifests/cvo-overrides.yaml', clusterVersion(name));

/** Configs that are not taken over. */
export const refusals: readonly BadCase[] = [
  {
    name: 'an unknown script',
    change: add('/usr/local/bin/extra.sh'),
    says: /\/usr\/local\/bin\/extra\.sh: unknown;.*\n.*--keep NAME/s,
  },
  {
    name: 'an unknown asset',
    change: add('/opt/openshift/konnectivity-server-pod.yaml'),
    says: /konnectivity-server-pod\.yaml: unknown/,
  },
  {
    name: 'an unknown static pod',
    change: add('/etc/kubernetes/manifests/a.yaml'),
    says: /manifests\/a\.yaml: unknown/,
  },
  {
    name: 'an unknown script of NetworkManager',
    change: add('/etc/NetworkManager/dispatcher.d/30-x'),
    says: /30-x: unknown/,
  },
  {
    name: 'a file beside a known one',
    change: add('/etc/systemd/system.conf.d/99.conf'),
    says: /99\.conf: unknown/,
  },
  { name: 'a file of a user', change: add('/var/home/core/.bashrc'), says: /\.bashrc: unknown/ },
  {
    name: 'an unknown unit',
    change: addUnit({ name: 'extra.service', enabled: true, contents: '' }),
    says: /extra\.service: unknown/,
  },
  {
    name: 'an unknown drop-in of a known unit',
    change: addUnit({ name: 'zincati.timer', dropins: [{ name: 'a.conf', contents: '' }] }),
    says: /zincati\.timer\.d\/a\.conf: unknown/,
  },
  {
    name: 'an unknown link',
    change: (config) => {
      config.storage = { ...config.storage, links: [{ path: '/usr/local/bin/oc', target: '/x' }] };
    },
    says: /\/usr\/local\/bin\/oc: unknown/,
  },
  {
    name: 'a section that is not read',
    change: (config) => Object.assign(config.storage ?? {}, { disks: [{ device: '/dev/sda' }] }),
    says: /storage\.disks: unknown/,
  },
  {
    name: 'kernel arguments of the live image',
    change: (config) => Object.assign(config, { kernelArguments: { shouldExist: ['a'] } }),
    says: /kernelArguments: unknown/,
  },
  {
    name: 'another config to be merged',
    change: (config) =>
      Object.assign(config.ignition, { config: { merge: [{ source: 'https://a' }] } }),
    says: /ignition\.config: unknown/,
  },
  {
    name: 'the pivot of OKD',
    change: add('/usr/local/bin/bootstrap-pivot.sh', '#!/bin/bash\n'),
    says: /bootstrap-pivot\.sh: unknown/,
  },
  {
    name: 'the bootstrap of several nodes',
    change: without('/usr/local/bin/install-to-disk.sh'),
    says: /not a bootstrap config of openshift-install create single-node.*\n\/usr\/local\/bin\/install-to-disk\.sh/,
  },
  {
    name: 'a config that sno created',
    change: add('/etc/sno-agents/cluster.json', '{}'),
    says: /created by sno/,
  },
  { name: 'something else', text: 'a: b', says: /not an Ignition config.*is not JSON/s },
  {
    name: 'another version of Ignition',
    text: '{"ignition":{"version":"2.2.0"}}',
    says: /ignition\.version/,
  },
  {
    name: 'assets without contents',
    change: (config) =>
      config.storage?.files?.push({
        path: '/opt/openshift/manifests/a.yaml',
        contents: { source: 'https://a/b' },
      }),
    says: /no contents in the config:\n\/opt\/openshift\/manifests\/a\.yaml/,
  },
  {
    name: 'an older release',
    change: channel('stable-4.13'),
    says: /expected OpenShift 4\.14 to 5\.0, .*found 4\.13/,
  },
  { name: 'a newer release', change: channel('candidate-5.1'), says: /found 5\.1/ },
  {
    name: 'no release',
    change: channel('mine'),
    says: /found version was not built correctly, channel mine/,
  },
  {
    name: 'no release image',
    change: set('/usr/local/bin/release-image-download.sh', '#!/bin/bash\n'),
    says: /expected a line RELEASE_IMAGE/,
  },
  {
    name: 'a platform',
    change: install({ platform: { aws: {} } }),
    says: /platform: expected none or external, found aws/,
  },
  { name: 'no platform', change: install({ platform: {} }), says: /found nothing/ },
  {
    name: 'another architecture than that of the executable',
    change: install({
      controlPlane: { name: 'master', replicas: 1, architecture: 'arm64' },
    }),
    says: /controlPlane\.architecture is arm64, and the executable is for amd64/,
  },
  {
    name: 'three nodes',
    change: install({ controlPlane: { name: 'master', replicas: 3 } }),
    says: /install-config: controlPlane\.replicas/,
  },
  {
    name: 'a disk that is none',
    change: install({ bootstrapInPlace: { installationDisk: 'sda; reboot' } }),
    says: /install-config: bootstrapInPlace\.installationDisk: expected/,
  },
  {
    name: 'no infrastructure',
    change: without('/opt/openshift/manifests/cluster-infrastructure-02-config.yml'),
    says: /cluster-infrastructure-02-config\.yml: expected the file/,
  },
  {
    name: 'an id that is none',
    change: set(
      '/opt/openshift/manifests/cvo-overrides.yaml',
      '{"spec":{"clusterID":"x","channel":"stable-4.19"}}',
    ),
    says: /cvo-overrides\.yaml: spec\.clusterID: expected a UUID/,
  },
  {
    name: '--keep of what is known',
    args: ['--keep', '/usr/local/bin/bootkube.sh'],
    says: /--keep \/usr\/local\/bin\/bootkube\.sh: names nothing/,
  },
  {
    name: '--keep of what the agents have',
    change: add('/usr/local/bin/bootkube'),
    args: ['--keep', '/usr/local/bin/bootkube'],
    says: /files or units of the agents.*found \/usr\/local\/bin\/bootkube/s,
  },
  {
    name: 'a payload',
    args: ['--payload-sha256', 'a'.repeat(64)],
    says: /--payload-sha256: not with --from-ignition/,
  },
  {
    name: 'a machine config server',
    args: ['--machine-config-server', 'https://a:22623'],
    says: /--machine-config-server: not with/,
  },
  ...['--accept-untested', '--api-server=a:6443', '--token-hours=24'].map((option) => ({
    name: `${option}, which nothing would read`,
    args: [option],
    says: new RegExp(`${option.split('=')[0]}: not with --from-ignition`),
  })),
  ...['-1', '366', '1.5', 'x'].map((days) => ({
    name: `${days} days of shipping`,
    args: [`--shipping-days=${days}`],
    says: /--shipping-days: expected 0 to 365/,
  })),
  {
    name: 'the metadata of another cluster',
    beside: { 'metadata.json': '{"clusterName":"sno","clusterID":"1","infraID":"sno-qkgrs"}' },
    says: /metadata\.json: clusterID: expected 9b916f64.*, found 1/,
  },
  {
    name: 'damaged metadata',
    beside: { 'metadata.json': '{' },
    says: /metadata\.json: expected clusterName/,
  },
  {
    name: 'workers of another cluster',
    beside: {
      'worker.ign': '{"ignition":{"version":"3.2.0","config":{"merge":[{"source":"https://a"}]}}}',
    },
    says: /worker\.ign: expected the source https:\/\/api-int\.sno\.example\.net:22623\/config\/worker, found https:\/\/a\n.*expected the root-ca/,
  },
  {
    name: 'a kubeconfig of another cluster',
    beside: { 'auth/kubeconfig': 'server: https://api.other:6443' },
    says: /auth\/kubeconfig: expected the server/,
  },
  {
    name: "a manifest with the name of one of the installer's",
    own: { 'manifests/cluster-config.yaml': 'kind: A\n' },
    says: /manifests\/cluster-config\.yaml: expected another name/,
  },
];
