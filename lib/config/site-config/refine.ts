import { canonicalAddress, isAddress } from '../../base/network/address.ts';
import { sshKeys } from '../../pki/signature/ssh-keys.ts';
import { addressPlan } from '../site/addresses/plan.ts';
import { loginKeysProblem } from '../site/login-keys.ts';
import {
  clusterDomainProblem,
  hostnameProblem,
  isOwnName,
  withoutFinalDot,
} from '../site/names.ts';
import type { Misfit } from '../site/nmstate/misfit.ts';
import { at } from '../site/nmstate/misfit.ts';
import { certificateFaults, type Files } from './certificates.ts';
import { hostsOf } from './check-hosts.ts';
import { isLabelKey, timeOf } from './fields.ts';
import { serverFaults } from './networks.ts';
import { nmstateFaults, nmstateOf } from './nmstate.ts';
import type { SomeSiteFields } from './schema.ts';

/** By what a configuration is judged, whatever the node. */
export interface SiteContext {
  /** Beside site-config.yaml. */
  readonly files: Files;
  /**
   * The time by which certificates and validUntil are judged. A host whose clock may be early takes the time at which
   * the volume was made, if that is later.
   */
  readonly now: Date;
}

/** Faults between fields that are valid by themselves, or inside of texts. `isGiven`: whether the file has a field, valid or not. */
export function refineSiteConfig(
  fields: SomeSiteFields,
  context: SiteContext,
  isGiven: (name: string) => boolean,
): Misfit[] {
  return [
    ...ofEnd(fields, context),
    ...ofHosts(fields),
    ...(isGiven('hostname') ? [] : ofName(fields)),
    ...(isGiven('machine_networks') ? [] : ofAddress(fields)),
    ...nmstateFaults(fields),
    ...ofDns(fields),
    ...ofNames(fields),
    ...ofOwnChecks(fields),
    ...serverFaults(fields),
    ...ofLabels(fields),
    ...ofLoginKeys(fields),
    ...ofCertificates(fields, context),
  ];
}

function ofEnd({ validUntil }: SomeSiteFields, { now }: SiteContext): Misfit[] {
  const end = validUntil === undefined ? undefined : timeOf(validUntil);
  if (end === undefined || end > now) return [];
  const expected = `a time after ${now.toISOString()}`;
  return [{ path: ['validUntil'], expected, fix: 'Choose a later one, or omit it.' }];
}

function ofHosts({ hosts = [] }: SomeSiteFields): Misfit[] {
  const lower = hosts.map((host) => host.toLowerCase());
  return hosts.flatMap((_, index) =>
    lower.indexOf(lower[index] ?? '') === index
      ? []
      : [{ path: ['hosts', index], expected: 'each node once', fix: 'Remove one of the two.' }],
  );
}

function ofName({ renameNode }: SomeSiteFields): Misfit[] {
  if (renameNode !== true) return [];
  const expected = 'hostname, if the Node is to get its name';
  return [{ path: ['renameNode'], expected, found: 'no hostname', fix: 'Set hostname too.' }];
}

/** A host may have several addresses, and none is the first. */
function ofAddress({ nodeAddress }: SomeSiteFields): Misfit[] {
  if (nodeAddress !== 'site') return [];
  const expected = "machine_networks, in which the site's address is";
  const fix = 'Set machine_networks too.';
  return [{ path: ['nodeAddress'], expected, found: 'no machine_networks', fix }];
}

function ofDns(fields: SomeSiteFields): Misfit[] {
  const resolver = at(nmstateOf(fields), 'dns-resolver', 'config');
  if (resolver === undefined || fields.dns === undefined) return [];
  return [
    {
      path: ['dns'],
      ofKey: true,
      expected: 'name servers in one place',
      found: 'this field, and dns-resolver in raw_nm_state_config',
      fix: 'Remove one of the two.',
    },
  ];
}

/** `<cluster>.<domain>`; undefined if one of them has a fault already. */
function domainOf({
  cluster_name: cluster,
  base_domain: base,
}: SomeSiteFields): string | undefined {
  return cluster === undefined || base === undefined
    ? undefined
    : `${cluster}.${withoutFinalDot(base)}`;
}

function ofNames(fields: SomeSiteFields): Misfit[] {
  const domain = domainOf(fields);
  const { hostname } = fields;
  if (domain === undefined) return [];
  const ofDomain = clusterDomainProblem(domain);
  const ofHost = hostname === undefined ? undefined : hostnameProblem(hostname, domain);
  return [
    ...(ofDomain === undefined ? [] : [{ path: ['base_domain'], ...ofDomain }]),
    ...(ofHost === undefined ? [] : [{ path: ['hostname'], ...ofHost }]),
  ];
}

/** The checks run while the node's own API is stopped, and a node always reaches its own addresses. */
function ofOwnChecks(fields: SomeSiteFields): Misfit[] {
  const { siteChecks = [], hostname } = fields;
  const domain = domainOf(fields) ?? '';
  const own = new Set(addressPlan(nmstateOf(fields) ?? {}).addresses.map(({ ip }) => ip));
  const isOwn = (host: string) =>
    isAddress(host)
      ? own.has(canonicalAddress(host)) || isLoopback(host)
      : isOwnName(host, domain, hostname);
  return siteChecks.flatMap((check, index) =>
    hostsOf(check)
      .filter(({ host }) => isOwn(host))
      .map(({ kind, host }) => ({
        path: ['siteChecks', index, kind],
        expected: 'a server other than the node itself, whose API is stopped then',
        found: host,
        fix: 'Check a server of the site, such as its router, registry or name server.',
      })),
  );
}

const isLoopback = (address: string): boolean =>
  /^127\./.test(address) || canonicalAddress(address) === '::1';

const ofLabels = ({ node_labels: labels = {} }: SomeSiteFields): Misfit[] =>
  Object.keys(labels)
    .filter((key) => !isLabelKey(key))
    .map((key) => ({
      path: ['node_labels', key],
      ofKey: true,
      expected: 'the key of a label that the kubelet does not set itself',
      found: JSON.stringify(key.slice(0, 80)),
      fix: 'Write it as example.com/site.',
    }));

function ofLoginKeys({ ssh_key: text }: SomeSiteFields): Misfit[] {
  const problem = text === undefined ? undefined : loginKeysProblem(sshKeys(text));
  return problem === undefined ? [] : [{ path: ['ssh_key'], ...problem }];
}

function ofCertificates(fields: SomeSiteFields, { files, now }: SiteContext): Misfit[] {
  const { cluster_name: cluster, base_domain: base, certificates, validUntil } = fields;
  // Without a sound domain the names are not known, and that is a fault already.
  if (cluster === undefined || base === undefined) return [];
  const domain = `${cluster}.${base.replace(/\.$/, '')}`;
  const until = validUntil === undefined ? undefined : timeOf(validUntil);
  return Object.entries({
    api: { given: certificates?.api, name: `api.${domain}` },
    ingress: { given: certificates?.ingress, name: `*.apps.${domain}` },
  }).flatMap(([which, { given, name }]) =>
    given === undefined
      ? []
      : certificateFaults(['certificates', which], given, files, { name, now, until }),
  );
}
