import { lstat } from 'node:fs/promises';
import { z } from 'zod';
import { Failure } from '../../../lib/base/errors/failure.ts';
import { schemaFaults } from '../../../lib/base/errors/schema-faults.ts';
import { parseJson } from '../../../lib/base/json.ts';
import { kubeconfigPath } from '../../../lib/change/site/places.ts';
import { networkManagerPoints, type WantedPoints } from '../../../lib/engine/trial/points.ts';
import type { PointsOfReturn } from '../../../lib/engine/trial/trial.ts';
import { exists, ifMissing, readTextIfPresent } from '../../../lib/host/files.ts';
import type { HostPaths } from '../../../lib/host/paths.ts';
import { siteDnsPath } from '../../../lib/relocation/relocatable/local-dns.ts';
import type { ReconfigureContext } from '../context.ts';
import { heldBackPaths } from '../hold-back.ts';
import { filesBelow, MOVED as OF_EVERY_PAYLOAD } from '../touched.ts';

/*
 * Database and disk have to agree: an operator, and above all the machine-config daemon, compares the one with the other and is
 * degraded if they differ. So what they write goes back with the database.
 */

const ASIDE = '/etc/sno-agents/sno-trial-';
const KEYS = '/var/home/core/.ssh';

/**
 * Folders that go back as a whole, with what was pruned in them and without what is new. Each lies aside on its own mount: /etc of
 * CoreOS is one, and so is each folder that the unit may write.
 */
export const FOLDERS: PointsOfReturn['moved'] = [
  ...OF_EVERY_PAYLOAD,
  // Of the operators of static pods: what runs, and its revisions.
  { path: '/etc/kubernetes/manifests', aside: `${ASIDE}manifests` },
  { path: '/etc/kubernetes/static-pod-resources', aside: `${ASIDE}static-pod-resources` },
  // Of the machine-config daemon: its present configuration, and what it has replaced.
  { path: '/etc/machine-config-daemon', aside: `${ASIDE}machine-config-daemon` },
  // sshd reads the keys as their owner, who stays the same that way.
  { path: KEYS, aside: `${KEYS}.sno-trial` },
];

const CURRENT_CONFIG = '/etc/machine-config-daemon/currentconfig';
/** What the site's objects have the daemon write (docs/relocation-openshift.md), also where it has not written it before. */
const OF_SITE = [
  '/etc/chrony.conf',
  '/etc/containers/policy.json',
  '/etc/containers/registries.conf',
  // With the mirrors, if a ClusterImagePolicy demands signatures.
  '/etc/containers/registries.d/sigstore-registries.yaml',
  '/etc/mco/proxy.env',
  '/etc/pki/ca-trust/source/anchors/openshift-config-user-ca-bundle.crt',
  '/etc/systemd/system.conf.d/10-default-env-proxy.conf',
  '/etc/systemd/system.conf.d/10-default-env.conf',
  '/var/lib/kubelet/config.json',
] as const;
/** What programs make of it. */
const TRUST = '/etc/pki/ca-trust/extracted';
const FILES = ['/etc/hostname', '/var/lib/kubelet/kubeconfig', siteDnsPath] as const;
/** Which adapter configure-ovs.sh made the bridge of the pod network from. */
const BRIDGE_HINT = '/var/lib/ovnk/iface_default_hint';
/** Where a trial may put files back. */
const IN_REACH = ['/etc/', '/var/lib/'];

/** Everything that a site may change or create on a host of OpenShift, and its operators in consequence. */
export async function openShiftPoints(context: ReconfigureContext): Promise<WantedPoints> {
  const { paths, site } = context;
  const moved: PointsOfReturn['moved'] = [];
  for (const each of FOLDERS) if (await exists(paths.at(each.path))) moved.push(each);
  const present = await Promise.all([
    filesBelow(paths, '/etc/kubernetes'),
    filesBelow(paths, '/etc/sno-agents'),
    ...(site.additionalTrustBundle === undefined ? [] : [filesBelow(paths, TRUST)]),
  ]);
  const all = [
    ...present.flat(),
    ...FILES,
    ...OF_SITE,
    ...(await filesOfDaemon(paths)),
    ...(await heldBackPaths(context)),
    paths.onHost(kubeconfigPath(paths)),
    paths.onHost(paths.record),
    // A new folder of keys is emptied.
    ...(moved.some(({ path }) => path === KEYS) ? [] : [`${KEYS}/authorized_keys.d/ignition`]),
  ];
  const files: string[] = [];
  for (const path of [...new Set(all)].toSorted()) {
    const isMoved = moved.some((each) => path.startsWith(`${each.path}/`));
    if (!isMoved && !path.startsWith(ASIDE) && (await isKeepable(paths, path))) files.push(path);
  }
  const network = {
    files: [...networkManagerPoints.files, BRIDGE_HINT],
    folders: networkManagerPoints.folders,
  };
  return { network, files, moved };
}

/** A masked unit is a link: the daemon makes it anew from the configuration that goes back. */
async function isKeepable(paths: HostPaths, path: string): Promise<boolean> {
  const found = await lstat(paths.at(path)).catch(ifMissing);
  return found === undefined || found.isFile();
}

const named = z.looseObject({ name: z.string() });
/** A MachineConfig as the daemon keeps it: Ignition's files and units. */
const currentSchema = z.looseObject({
  spec: z.looseObject({
    config: z.looseObject({
      storage: z
        .looseObject({ files: z.array(z.looseObject({ path: z.string() })).nullish() })
        .nullish(),
      systemd: z
        .looseObject({
          units: z.array(named.extend({ dropins: z.array(named).nullish() })).nullish(),
        })
        .nullish(),
    }),
  }),
});

/**
 * Every file below these folders that the daemon compares with its configuration.
 * @throws Failure (fatal) if that cannot be read
 */
export async function filesOfDaemon(
  paths: HostPaths,
  below: readonly string[] = IN_REACH,
): Promise<string[]> {
  const text = await readTextIfPresent(paths.at(CURRENT_CONFIG));
  if (text === undefined) return [];
  const { data, error } = currentSchema.safeParse(parseJson(text));
  if (data === undefined) {
    throw new Failure('fatal', `${CURRENT_CONFIG} cannot be read`, {
      expected: 'the MachineConfig that the machine-config daemon has applied',
      found: schemaFaults(error),
      fix: 'See "oc get machineconfigpool master": the node has to be updated before it is shipped.',
    });
  }
  const { storage, systemd } = data.spec.config;
  const units = (systemd?.units ?? []).flatMap(({ name, dropins }) => [
    `/etc/systemd/system/${name}`,
    ...(dropins ?? []).map((dropin) => `/etc/systemd/system/${name}.d/${dropin.name}`),
  ]);
  const files = (storage?.files ?? []).map(({ path }) => path);
  return [...files, ...units].filter((path) => below.some((folder) => path.startsWith(folder)));
}
