import { formatLine } from '../../../lib/base/log/line.ts';
import { describeDecision } from '../../../lib/cluster/csr/decision.ts';
import { json, list, M, object, type RuleCase, step } from './rule-case.ts';

const LONG_AGO = '2026-11-21T14:50:00Z';
const JUST_NOW = '2026-11-21T15:19:30Z';

const csr = (name: string, more: object, created = LONG_AGO) =>
  object(name, {
    created,
    spec: {
      signerName: 'kubernetes.io/kubelet-serving',
      username: 'system:node:sno',
      usages: ['digital signature', 'server auth'],
      ...more,
    },
    status: {},
  });
const NODES = { 'resources/nodes.json': list(object('sno', { created: LONG_AGO })) };

/** As logged by the agents, so that the rule is tested with the journal's actual wording. */
const [msg, fields] = describeDecision({
  request: 'csr-1',
  requestor: 'system:node:sno',
  signer: 'kubernetes.io/kubelet-serving',
  judgement: {
    verdict: 'leave',
    rule: 'names',
    explanation: 'expected 192.168.126.10; found 10.0.0.9',
  },
});
const notApproved = formatLine(
  JSON.stringify({ level: 30, msg, ...fields, step: 'serving-certificate' }),
  false,
);

export const csrCases: readonly RuleCase[] = [
  {
    rule: 'csr-pending',
    of: "the node's own request, and why the agents leave it alone",
    files: {
      ...NODES,
      'resources/csr.json': list(csr('csr-1', {})),
      [`${M}/journals/bootkube.log`]: `2026-11-21T14:50:01.1+0000 sno-agents[9]: ${notApproved}\n`,
    },
    finds: [
      {
        severity: 'failing',
        title:
          /csr-1 of system:node:sno .* pending for 30 min: the agents did not approve it, by the rule "names": expected 192.168.126.10; found 10.0.0.9$/,
        todo: /addresses/,
        at: 'resources/csr.json:6',
      },
    ],
  },
  {
    rule: 'csr-pending',
    of: "the node's own request, of which nothing is said, after the installation",
    files: {
      ...NODES,
      'resources/csr.json': list(csr('csr-1', {})),
      [`${M}/agents/record.json`]: json({ completed: '2026-11-21T14:00:00Z' }),
    },
    finds: [
      {
        severity: 'failing',
        title: /no agent has logged anything about it$/,
        todo: /"systemctl start sno-renew"/,
      },
    ],
  },
  {
    rule: 'csr-pending',
    of: 'the same during the installation of an all-in-one host',
    files: {
      ...NODES,
      'resources/csr.json': list(csr('csr-1', {})),
      [`${M}/steps/aiokube.jsonl`]: step('15:00:00', 'serving-certificate', 'started'),
    },
    finds: [
      {
        severity: 'failing',
        title: /no agent has logged anything about it$/,
        todo: /"systemctl start aiokube"/,
      },
    ],
  },
  {
    rule: 'csr-pending',
    of: 'requests of a bootstrapper, an unknown node and with other usages',
    files: {
      'resources/csr.json': list(
        csr('csr-b', {
          signerName: 'kubernetes.io/kube-apiserver-client-kubelet',
          username: 'system:bootstrap:abc',
        }),
        csr('csr-s', { username: 'system:node:other' }),
        csr('csr-u', { usages: ['client auth'] }),
        csr('csr-x', { signerName: 'example.test/x' }),
      ),
    },
    finds: [
      { severity: 'warning', title: /a first client certificate/ },
      { severity: 'warning', title: /is not a node of the cluster/ },
      { severity: 'warning', title: /usages client auth/ },
      { severity: 'warning', title: /nothing here approves requests to example.test\/x/ },
    ],
  },
  {
    rule: 'csr-pending',
    of: 'one that was decided on, and one of a moment ago',
    files: {
      'resources/csr.json': list(
        { ...csr('csr-1', {}), status: { conditions: [{ type: 'Approved', status: 'True' }] } },
        csr('csr-2', {}, JUST_NOW),
      ),
    },
  },
];
