import { suggest } from '../../base/errors/suggest.ts';
import { familyOf } from '../../base/network/address.ts';
import { isHostPattern } from '../site/mirrors.ts';
import { expectedOnHost } from '../site/nmstate/interfaces.ts';
import type { Misfit } from '../site/nmstate/misfit.ts';
import { interfacesOf, isWanted } from '../site/nmstate/references.ts';
import type { ShippedHostFacts } from './host-facts.ts';
import { networkFaults } from './networks.ts';
import { nmstateOf } from './nmstate.ts';
import type { SomeSiteFields } from './schema.ts';

/** What a site wants that this node cannot be or do. Each fault names the field, and the way. */
export function judgeSiteConfig(fields: SomeSiteFields, facts: ShippedHostFacts): Misfit[] {
  return [
    ...ofOtherHosts(fields, facts),
    ...networkFaults(fields, facts),
    ...ofAdapters(fields, facts),
    ...ofAddresses(fields, facts),
    ...ofFamilies(fields, facts),
    ...(facts.controlPlane === 'openshift' ? ofOpenShift(fields, facts) : ofKubernetes(fields)),
  ];
}

function ofOtherHosts({ hosts }: SomeSiteFields, { identifiers }: ShippedHostFacts): Misfit[] {
  if (hosts === undefined || isAmong(hosts, identifiers)) return [];
  return [
    {
      path: ['hosts'],
      expected: `one of ${identifiers.join(', ')}`,
      found: hosts.slice(0, 5).join(', '),
      fix: 'Use the volume that was made for this node.',
    },
  ];
}

/** Whether a node with these identifiers is meant; an empty list means every node. */
export function isAmong(hosts: readonly string[], identifiers: readonly string[]): boolean {
  const own = new Set(identifiers.map((each) => each.toLowerCase()));
  return hosts.length === 0 || hosts.some((host) => own.has(host.toLowerCase()));
}

function ofAdapters(fields: SomeSiteFields, { adapters }: ShippedHostFacts): Misfit[] {
  const document = nmstateOf(fields);
  if (document === undefined) return [];
  // A port of another interface has no entry of its own.
  const placeOf = (name: string) => {
    const entry = interfacesOf(document).find((each) => each.name === name);
    return entry === undefined ? [] : [...entry.path, 'name'];
  };
  return expectedOnHost(document)
    .filter((name) => !adapters.includes(name))
    .map((name) => {
      const near = suggest(name, adapters);
      return {
        path: ['raw_nm_state_config', ...placeOf(name)],
        expected: `adapters of the host (${adapters.join(', ')})`,
        found: JSON.stringify(name),
        fix:
          near === undefined
            ? 'Use a name of the host, or identifier: mac-address.'
            : `Did you mean ${near}?`,
      };
    });
}

const MAC = /^[0-9a-f]{2}(:[0-9a-f]{2}){5}$/;

/** Adapters by their address. Those of a bond may share one: then the others are not known. */
function ofAddresses(
  fields: SomeSiteFields,
  { adapters, identifiers }: ShippedHostFacts,
): Misfit[] {
  const known = identifiers.filter((each) => MAC.test(each));
  if (known.length < adapters.length) return [];
  return interfacesOf(nmstateOf(fields) ?? {})
    .filter((each) => isWanted(each) && each.entry.identifier === 'mac-address')
    .map(({ entry, path }) => ({ path, mac: `${entry['mac-address']}`.toLowerCase() }))
    .filter(({ mac }) => MAC.test(mac) && !known.includes(mac))
    .map(({ path, mac }) => ({
      path: ['raw_nm_state_config', ...path, 'mac-address'],
      expected: `the address of an adapter of the host (${known.join(', ')})`,
      found: mac,
      fix: 'Use one of these, or the volume that was made for this node.',
    }));
}

/** The cluster's families are those of its installation. */
function ofFamilies(fields: SomeSiteFields, { internalAddresses }: ShippedHostFacts): Misfit[] {
  const { machine_networks: networks } = fields;
  if (fields.nodeAddress !== 'site' || networks === undefined) return [];
  const found = networks.map(familyOf);
  const missing = internalAddresses.map(familyOf).find((family) => !found.includes(family));
  if (missing === undefined) return [];
  return [
    {
      path: ['machine_networks'],
      expected: `a network of ${missing}, as the cluster has`,
      found: found.join(' and ') || 'none',
      fix: 'Add one, or omit nodeAddress.',
    },
  ];
}

/** What a Kubernetes payload has not. */
function ofKubernetes(fields: SomeSiteFields): Misfit[] {
  const { kubeadmin_password_hash, certificates } = fields;
  const absent = (path: Misfit['path'], why: string, fix: string): Misfit => ({
    ...{ path, ofKey: true, found: 'one', fix },
    expected: `no such field for a Kubernetes payload, ${why}`,
  });
  const admin = 'Remove it: the administrator has auth/kubeconfig.';
  const secret = 'Put it as a Secret of your ingress into extra-manifests.';
  return [
    ...ofHostPatterns(fields),
    ...(kubeadmin_password_hash === undefined
      ? []
      : [absent(['kubeadmin_password_hash'], 'which has no user kubeadmin', admin)]),
    ...(certificates?.ingress === undefined
      ? []
      : [absent(['certificates', 'ingress'], 'which has no ingress of its own', secret)]),
  ];
}

/** containerd has one configuration for each registry, by its name. */
const ofHostPatterns = (fields: SomeSiteFields): Misfit[] =>
  (['imageDigestSources', 'imageTagSources'] as const).flatMap((list) =>
    (fields[list] ?? []).flatMap(({ source }, index) =>
      isHostPattern(source)
        ? [
            {
              path: [list, index, 'source'],
              expected: 'one registry: only OpenShift knows patterns of hosts',
              found: JSON.stringify(source),
              fix: 'Write an entry for each registry.',
            },
          ]
        : [],
    ),
  );

/** Where the machine-config operator restarts the node, or does not forgive another way. */
function ofOpenShift(fields: SomeSiteFields, facts: ShippedHostFacts): Misfit[] {
  const faults: Misfit[] = [];
  const refuse = (name: keyof SomeSiteFields, expected: string, fix: string, found?: string) =>
    faults.push({ path: [name], expected, fix, ...(found === undefined ? {} : { found }) });
  if (fields.renameNode === true) {
    const fix = 'Omit it and set hostname alone; to rename the Node, install it again.';
    refuse('renameNode', `false: on OpenShift the Node stays ${facts.nodeName}`, fix);
  }
  if (fields.nodeAddress === 'site') {
    const fix = "Omit it: the site's address is reached through api and *.apps of its domain.";
    refuse('nodeAddress', 'internal: on OpenShift the address of the Node stays', fix);
  }
  if (fields.cluster_name !== undefined && fields.cluster_name !== facts.clusterName) {
    const fix = 'Write that name, and the rest of the domain into base_domain.';
    refuse('cluster_name', `${facts.clusterName}, which on OpenShift stays`, fix);
  }
  if (fields.allowRestart === true) return faults;
  for (const name of ['additionalNTPSources', 'proxy', 'additionalTrustBundle'] as const) {
    if (fields[name] === undefined) continue;
    const expected = 'nothing that needs a restart on OpenShift (about 10 minutes)';
    refuse(name, expected, 'Add allowRestart: true, or remove this field.', 'a change');
  }
  return faults;
}
