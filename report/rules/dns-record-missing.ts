import type { BundleView, Found, Rule } from '../bundle-view.ts';
import { whereSaid } from '../reading/evidence.ts';
import { allWithCode } from '../reading/failure.ts';
import { hostFiles } from '../reading/hosts.ts';
import { isAllInOne } from '../reading/installation.ts';
import { aboutFailure, stepFailures } from '../reading/steps.ts';
import { listAt, textAt, textsAt } from '../reading/values.ts';

/**
 * Names by which clients and kubelets reach the API, and routes their routers (enhancement
 * single-node-installation-bootstrap-in-place, prerequisites). An all-in-one host needs none of them.
 */
const NEEDED = /^(api|api-int)\.|\.apps\./;

export const dnsRecordMissing: Rule = {
  name: 'dns-record-missing',
  looksFor:
    'api, api-int, a name below apps or the name of the host that its own name servers do not resolve to an address of this host',
  codes: ['dns-record-missing'],
  todo: 'Add a DNS record with the address of this host.',
  find(view) {
    const asked = hostFiles(view, 'network/dns.json').flatMap((path) =>
      listAt(view.json(path)).flatMap((raw) => fromAnswer(view, path, raw)),
    );
    return asked.length > 0 ? asked : fromPreflight(view);
  },
};

function fromAnswer(view: BundleView, path: string, raw: unknown): Found[] {
  const name = textAt(raw, 'name');
  if (name === undefined) return [];
  const [found, expected] = [textsAt(raw, 'addresses'), textsAt(raw, 'expected')];
  const error = textAt(raw, 'error');
  if (expected.some((address) => found.includes(address))) return [];
  if (found.length > 0 && expected.length === 0) return [];
  const why =
    found.length > 0
      ? `resolves to ${found.join(', ')}, not to this host (${expected.join(', ')})`
      : `does not resolve: ${error ?? 'no address'}`;
  return [
    {
      severity: NEEDED.test(name) && !isAllInOne(view) ? 'failing' : 'warning',
      title: `${name} ${why}`,
      evidence: [...whereSaid(view, path, `"${name}"`), ...whatPreflightSaid(view, name)],
      todo: `Add a DNS record for ${name} with the address ${expected.join(' and ') || 'of this host'}, on the name servers in network/resolv.conf.`,
    },
  ];
}

const whatPreflightSaid = (view: BundleView, name: string) =>
  stepFailures(view)
    .filter(({ failure }) =>
      allWithCode(failure, 'dns-record-missing').some(({ subject }) => subject === name),
    )
    .map(({ evidence }) => evidence);

function fromPreflight(view: BundleView): Found[] {
  return stepFailures(view).flatMap((failed) =>
    allWithCode(failed.failure, 'dns-record-missing').map((failure) => ({
      ...aboutFailure({ ...failed, failure, isFinal: true }),
      title: failure.what,
      todo: failure.fix,
    })),
  );
}
