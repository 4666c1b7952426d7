import { endpointOf } from './fields.ts';
import type { SomeSiteFields } from './schema.ts';

type Check = NonNullable<SomeSiteFields['siteChecks']>[number];

/** The hosts that a check connects to, an address without brackets. A question of DNS connects to none. */
export function hostsOf({ ping, tcp, https }: Check) {
  const endpoint = tcp === undefined ? undefined : endpointOf(tcp);
  const url = https !== undefined && URL.canParse(https) ? new URL(https).hostname : undefined;
  return [
    ...(ping === undefined ? [] : [{ kind: 'ping', host: ping }]),
    ...(endpoint === undefined ? [] : [{ kind: 'tcp', host: endpoint.host }]),
    ...(url === undefined ? [] : [{ kind: 'https', host: url.replace(/^\[(.*)\]$/, '$1') }]),
  ];
}
