import { z } from 'zod';
import { describeError, Failure } from '../../../lib/base/errors/failure.ts';
import type { Limits } from '../../../lib/base/wait/limits.ts';
import type { KubeClient } from '../../../lib/clients/kube/client.ts';
import { readKubeconfig } from '../../../lib/clients/kube/kubeconfig.ts';
import { objectSchema, type Resource, resources } from '../../../lib/clients/kube/resources.ts';
import { serverVersion } from '../../../lib/clients/kube/server-version.ts';
import { judgeRelease } from '../../../lib/config/openshift/judge-release.ts';
import { ifMissing, readTextIfPresent } from '../../../lib/host/files.ts';
import type { HostPaths } from '../../../lib/host/paths.ts';
import { daysMs } from '../../../lib/pki/lifetimes.ts';
import {
  bootstrapEnd,
  type CertificateSecret,
  certificateOf,
  certificateSecretSchema,
  clusterCertificates,
} from '../../../lib/relocation/relocatable/openshift/certificates.ts';
import { hostFaultText } from '../../../lib/relocation/relocatable/openshift/host-checks.ts';
import { openShiftFaults } from '../../../lib/relocation/relocatable/openshift/node.ts';
import type { FactoryPolicy } from '../../../lib/relocation/relocatable/policy.ts';
import type { NodeCertificate } from '../../../lib/relocation/relocatable/validation/facts.ts';
import { kubeletPaths } from '../../../lib/render/kubernetes/kubelet.ts';
import { administratorAccess } from '../../../lib/render/openshift/installed-access.ts';
import type { PlainHost } from '../../steps/host-context.ts';
import { preparedHostFaults } from '../openshift/host-checks.ts';
import { fixedNode, openShiftFacts } from '../openshift/node.ts';
import { servedKindsFaults } from '../openshift/served-kinds.ts';
import { unitImages } from '../openshift/unit-images.ts';
import { askNameServer } from './cluster-dns.ts';
import { installedOperators } from './operators.ts';
import type { Platform } from './platform.ts';

/** The kubelet uses it to request its first certificate, and another one when that has expired. */
const BOOTSTRAP_KUBECONFIG = '/etc/kubernetes/kubeconfig';
const ETCD = 'openshift-etcd';

/** User and groups are those of the namespace, by SecurityContextConstraints restricted-v2: it refuses any other. */
export const restrictedPod = { runAsNonRoot: true, seccompProfile: { type: 'RuntimeDefault' } };

/** On OpenShift, operators render the control plane: the cluster is asked what it consists of. */
export const openShiftPlatform = (
  { paths, settings }: Pick<PlainHost, 'paths' | 'settings'>,
  policy: Pick<
    FactoryPolicy,
    'internalAddress' | 'nodeName' | 'shippingDays' | 'unknownReleaseAccepted'
  >,
  ask = askNameServer,
): Platform => ({
  windowMs: settings.validateOperatorsWindowMs,
  async probeMaterial(client, limits) {
    return {
      image: await etcdImage(client, policy.nodeName, limits),
      securityContext: restrictedPod,
      withoutServices: undefined,
    };
  },
  async facts(client, limits) {
    const fixed = await fixedNode(paths);
    const { internalAddress: address, nodeName } = policy;
    const openShift = await openShiftFacts(paths, client, { address, nodeName }, limits);
    const { items: secrets } = await client.list(
      certificateSecrets,
      { fieldSelector: 'type=kubernetes.io/tls' },
      limits,
    );
    const { items: nodes } = await client.list(resources.nodes, {}, limits);
    const own = nodes.find(({ metadata }) => metadata.name === nodeName);
    const now = new Date();
    const isUnknownAccepted = policy.unknownReleaseAccepted === true;
    const release = judgeRelease('relocate', openShift.version, isUnknownAccepted);
    const { clusterDomain: domain } = openShift;
    const names = [`api.${domain}`, `api-int.${domain}`, `console.apps.${domain}`];
    return {
      certificates: [
        ...clusterCertificates(secrets, now),
        ...(await hostCertificates(paths, policy.shippingDays, now)),
      ],
      kubelet: { nodeIps: fixed === undefined ? [] : [fixed.address], nodeName: fixed?.nodeName },
      ownNames: await Promise.all(
        names.map(async (name) => ({
          name,
          answer: await ask(address, name).catch(describeError),
        })),
      ),
      otherFaults: [
        ...[
          ...openShiftFaults(openShift, isUnknownAccepted),
          // As "prepare" has made them: the cluster may have been updated since.
          ...(await servedKindsFaults(client, limits)),
          ...(await preparedHostFaults(paths, { address, nodeName }, own, limits.signal)),
        ].map(hostFaultText),
        ...(await etcdFaults(client, address, limits)),
      ],
      otherNotes: release.ok && release.notice !== undefined ? [release.notice] : [],
      unitImages: await unitImages(paths),
      operators: await installedOperators(client, limits),
      versions: {
        kubernetes: (await serverVersion(client, limits)).gitVersion,
        ...(openShift.version === undefined ? {} : { openshift: openShift.version }),
      },
    };
  },
});

const certificateSecrets: Resource<CertificateSecret> = {
  ...resources.secrets,
  schema: certificateSecretSchema,
};

const podSchema = objectSchema.extend({
  spec: z.looseObject({
    containers: z.array(z.looseObject({ name: z.string(), image: z.string() })),
  }),
});
const pods: Resource<z.infer<typeof podSchema>> = { ...resources.pods, schema: podSchema };

async function etcdImage(client: KubeClient, nodeName: string, limits: Limits): Promise<string> {
  const place = { namespace: ETCD, name: `etcd-${nodeName}` };
  const { spec } = await client.get(pods, place, limits);
  const found = spec.containers.find(({ name }) => name === 'etcd');
  if (found !== undefined) return found.image;
  throw new Failure('fatal', `the pod ${ETCD}/${place.name} has no container etcd`);
}

/** The only member of etcd, as its operator knows it. */
async function etcdFaults(client: KubeClient, address: string, limits: Limits): Promise<string[]> {
  const place = { namespace: ETCD, name: 'etcd-endpoints' };
  const { data = {} } = (await client.find(resources.configMaps, place, limits)) ?? {};
  const found = Object.values(data);
  return found.length === 1 && found[0] === address
    ? []
    : [`members of etcd: expected ${address} alone, found ${found.join(', ') || 'none'}`];
}

/** Of the kubelet, and of the agents' own way into the API at the site. */
async function hostCertificates(
  paths: HostPaths,
  shippingDays: number,
  now: Date,
): Promise<NodeCertificate[]> {
  const { certificate: administrator = '' } = await administratorAccess(paths);
  const client = certificateOf(
    { name: 'kubelet-client', path: kubeletPaths.clientPair },
    (await readTextIfPresent(paths.at(kubeletPaths.clientPair))) ?? '',
    now,
  ).certificate;
  const isApprovable = await canAskAgain(paths, now.getTime() + daysMs(shippingDays));
  return [
    certificateOf({ name: 'administrator', path: 'node-kubeconfigs' }, administrator, now)
      .certificate,
    {
      ...client,
      ...(isApprovable ? { madeAgain: 'a request that has to be approved at the site' } : {}),
    },
  ];
}

/** Whether the kubelet can ask for another certificate at that time. */
async function canAskAgain(paths: HostPaths, atMs: number): Promise<boolean> {
  const path = paths.at(BOOTSTRAP_KUBECONFIG);
  if ((await readTextIfPresent(path).catch(ifMissing)) === undefined) return false;
  const end = bootstrapEnd(await readKubeconfig(path));
  return end === 'never' || (end !== undefined && end.getTime() > atMs);
}
