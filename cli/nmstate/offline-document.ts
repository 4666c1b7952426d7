import { isRecord } from '../../lib/base/json.ts';
import { expectedOnHost } from '../../lib/config/site/nmstate/interfaces.ts';
import { at, entriesOf } from '../../lib/config/site/nmstate/misfit.ts';
import { interfacesOf, namesOf } from '../../lib/config/site/nmstate/references.ts';
import { isOn } from '../../lib/config/site/nmstate/values.ts';

/** Keys of an interface that `nmstatectl gc` refuses and `nmstatectl apply` does not: they need the host. */
const OF_HOST = ['copy-mac-from', 'dispatch'];
/** What DHCP gives an adapter that the document says nothing of. */
const DYNAMIC = {
  ipv4: { enabled: true, dhcp: true },
  ipv6: { enabled: true, dhcp: true, autoconf: true },
};

/**
 * An nmstate document as `nmstatectl gc` can judge it without the host: with the adapters that the host has, and with the
 * settings that nmstate would take over from it. gc refuses the document itself where they are needed.
 */
export function offlineDocument(document: Record<string, unknown>): Record<string, unknown> {
  const { interfaces = [], ...others } = document;
  if (!Array.isArray(interfaces)) return document;
  const outgoing = new Set(outgoingOf(document));
  const declared = new Set(
    interfacesOf(document)
      .filter(({ entry }) => entry.type !== 'ovs-bridge')
      .flatMap(namesOf),
  );
  const made = [...new Set([...expectedOnHost(document), ...outgoing])]
    .filter((name) => !declared.has(name))
    .map((name) => ({ name, type: 'ethernet', ...(outgoing.has(name) ? DYNAMIC : {}) }));
  const completed = interfaces.map((entry: unknown) =>
    isRecord(entry) ? asOnHost(entry, outgoing) : entry,
  );
  // Name servers are stored with an adapter: that of the host may be another one.
  const another =
    'dns-resolver' in document ? [{ name: 'host0', type: 'ethernet', ...DYNAMIC }] : [];
  const all = [...completed, ...made, ...another, ...bridgesOfHost(document)];
  return { ...withServersByFamily(others), interfaces: all };
}

/**
 * gc stores name servers with adapters, and refuses those of one family between those of the other; apply hands them to
 * NetworkManager as a whole then (nm/query_apply/dns.rs, store_dns_config).
 */
function withServersByFamily(document: Record<string, unknown>): Record<string, unknown> {
  const { 'dns-resolver': resolver } = document;
  const config = at(resolver, 'config');
  const servers = at(config, 'server');
  if (!isRecord(resolver) || !isRecord(config) || !Array.isArray(servers)) return document;
  const isSix = (server: unknown) => `${server}`.includes(':');
  const server = [...servers.filter((each) => !isSix(each)), ...servers.filter(isSix)];
  return { ...document, 'dns-resolver': { ...resolver, config: { ...config, server } } };
}

/** OVN's networks may be on bridges that OpenShift has made. */
function bridgesOfHost(document: Record<string, unknown>) {
  const declared = interfacesOf(document).filter(({ entry }) => entry.type === 'ovs-bridge');
  const named = entriesOf(at(document, 'ovn', 'bridge-mappings'), [])
    .map(({ entry }) => at(entry, 'bridge'))
    .filter((name) => typeof name === 'string');
  return [...new Set(named)]
    .filter((bridge) => !declared.some(({ name }) => name === bridge))
    .map((name) => ({ name, type: 'ovs-bridge' }));
}

/** Interfaces that routes and rules name. */
function outgoingOf(document: Record<string, unknown>): string[] {
  const named = (section: string, key: string) =>
    entriesOf(at(document, section, 'config'), [])
      .filter(({ entry }) => at(entry, 'state') === undefined)
      .map(({ entry }) => at(entry, key))
      .filter((name) => typeof name === 'string');
  return [...named('routes', 'next-hop-interface'), ...named('route-rules', 'iif')];
}

function asOnHost(entry: Record<string, unknown>, outgoing: ReadonlySet<string>) {
  const kept = Object.fromEntries(Object.entries(entry).filter(([key]) => !OF_HOST.includes(key)));
  const isOutgoing = typeof entry.name === 'string' && outgoing.has(entry.name);
  for (const family of ['ipv4', 'ipv6'] as const) {
    const given = entry[family] ?? (isOutgoing ? {} : undefined);
    if (!isRecord(given)) continue;
    const enabled = isOutgoing ? { enabled: true } : {};
    const dhcp = isOn(given.autoconf) ? { dhcp: true } : {};
    kept[family] = { ...enabled, ...dhcp, ...given };
  }
  return kept;
}
