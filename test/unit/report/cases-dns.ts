import { Failure } from '../../../lib/base/errors/failure.ts';
import { json, type RuleCase, step } from './rule-case.ts';

const live = (agent: string, ...lines: string[]) => ({
  [`bootstrap/steps/${agent}.jsonl`]: lines.join(''),
});
const dns = (entry: object) => ({
  'bootstrap/network/dns.json': json([
    { name: 'api.lab.example.test', addresses: ['192.168.126.10'], expected: ['192.168.126.10'] },
    { name: 'api-int.lab.example.test', expected: ['192.168.126.10'], addresses: [], ...entry },
  ]),
});
const noRecord = (check: string, name: string) =>
  new Failure('retry', `${name} does not resolve to this host: getaddrinfo EAI_AGAIN ${name}`, {
    code: 'dns-record-missing',
    subject: name,
    fix: `Add a DNS record for ${name} with the address 192.168.126.10.`,
    found: check,
  });
/** bootkube's failure at its deadline on a host without these records. */
const PREFLIGHT = new Failure('deadline', 'deadline of 15s exceeded', {
  expected: 'a host that meets the requirements of the installation',
  cause: new Failure('retry', '2 of 9 checks failed', {
    code: 'preflight',
    parts: [
      noRecord('dns-api-int', 'api-int.lab.example.test'),
      noRecord('dns-apps', 'preflight-check.apps.lab.example.test'),
      new Failure('retry', '3 MiB of memory', { code: 'preflight-memory' }),
    ],
    fix: 'To turn a check into a warning, list it in bootstrapInPlace.preflightWarnings.',
  }),
});

export const dnsCases: readonly RuleCase[] = [
  {
    rule: 'dns-record-missing',
    of: 'a name that does not resolve, and what preflight said of it',
    files: {
      ...dns({ error: 'ENOTFOUND' }),
      ...live('bootkube', step('15:00:00', 'preflight', 'failed', PREFLIGHT)),
    },
    finds: [
      {
        severity: 'failing',
        title: /^api-int.lab.example.test does not resolve: ENOTFOUND/,
        at: 'bootstrap/network/dns.json:12',
        todo: /192\.168\.126\.10/,
      },
    ],
  },
  {
    rule: 'dns-record-missing',
    of: 'a name that nothing on an all-in-one host depends on',
    files: {
      ...dns({ error: 'ENOTFOUND' }),
      'bootstrap/agents/installation.json': json({ machine: 'dmi:1' }),
    },
    finds: [{ severity: 'warning', title: /^api-int.lab.example.test does not resolve/ }],
  },
  {
    rule: 'dns-record-missing',
    of: "another host's address",
    files: dns({ addresses: ['192.168.126.9'] }),
    finds: [
      {
        severity: 'failing',
        title: /resolves to 192.168.126.9, not to this host \(192.168.126.10\)/,
      },
    ],
  },
  {
    rule: 'dns-record-missing',
    of: 'what preflight said alone',
    files: live('bootkube', step('15:00:00', 'preflight', 'failed', PREFLIGHT)),
    finds: [
      {
        severity: 'failing',
        title: /^api-int.lab.example.test/,
        todo: /^Add a DNS record for api-int.lab.example.test with the address 192.168.126.10\.$/,
      },
      {
        severity: 'failing',
        title: /^preflight-check.apps/,
        at: 'bootstrap/steps/bootkube.jsonl:1',
      },
    ],
  },
  {
    rule: 'dns-record-missing',
    of: 'records that are there, one of them with a second address',
    files: dns({ addresses: ['192.168.126.11', '192.168.126.10'] }),
  },
];
