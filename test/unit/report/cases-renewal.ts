import { Failure } from '../../../lib/base/errors/failure.ts';
import { json, list, M, object, type RuleCase, step } from './rule-case.ts';

const KUBELETS_PENDING = new Failure('fatal', "the kubelet's request csr-7 is not approved", {
  code: 'serving-request-pending',
  subject: 'csr-7',
});
const notRenewed = (...parts: Failure[]) =>
  new Failure('fatal', 'kube-scheduler could not be renewed', { code: 'renewal-failed', parts });
const PENDING = notRenewed(KUBELETS_PENDING);
const NOT_RENEWED = notRenewed(
  new Failure('fatal', 'the new certificate of kube-scheduler was restored', {
    code: 'leaf-not-accepted',
    subject: '/etc/kubernetes/pki/kube-scheduler/client.crt',
    cause: new Failure('deadline', 'the API server does not accept it after 150 s'),
  }),
  new Failure('fatal', 'the kubelet has not requested a serving certificate', {
    code: 'serving-request-missing',
    fix: 'See "journalctl -u kubelet".',
  }),
  KUBELETS_PENDING,
);

const LAPTOP_TRUSTED = new Failure('fatal', "the laptop's CA is still trusted", {
  code: 'renewal-failed',
  parts: [
    new Failure('fatal', "the trust in the laptop's CA could not be ended", {
      code: 'laptop-ca-trusted',
      subject: '/etc/kubernetes/pki/ca/laptop-admin/ca.crt',
      cause: new Failure('deadline', 'the API server still accepts its clients'),
    }),
  ],
});

const caOf = (file: string, subject: string, sha256: string) => ({
  file: `/etc/kubernetes/pki/ca/${file}/ca.crt`,
  ...{ subject, sha256, index: 0, isAuthority: true },
});
const LAPTOPS = caOf('serving', 'CN=kube-apiserver-serving-ca', 'a1');
const OWN = caOf('serving', 'CN=kube-apiserver-serving-ca@1795000000', 'b2');
const RECORD = { [`${M}/agents/record.json`]: json({ completed: '2026-11-20T12:00:00Z' }) };
const MEDIUM_CA = {
  severity: 'warning',
  title: /^The CA of the API server is one whose key was on/,
  todo: /rotate-ca serving.*wait-for install-complete/,
} as const;

export const renewalCases: readonly RuleCase[] = [
  {
    rule: 'medium-ca-in-use',
    of: 'a host of an earlier release, with the CA of its medium',
    files: { ...RECORD, [`${M}/certificates/certificates.json`]: json([LAPTOPS]) },
    finds: [{ ...MEDIUM_CA, at: `${M}/certificates/certificates.json:5` }],
  },
  {
    rule: 'medium-ca-in-use',
    of: 'a host that continues a lost one, with the CA that its Ignition config has',
    files: {
      ...RECORD,
      [`${M}/certificates/certificates.json`]: json([OWN, caOf('medium-serving', 'CN=x', 'b2')]),
    },
    finds: [MEDIUM_CA],
  },
  {
    rule: 'medium-ca-in-use',
    of: 'a CA that the host has made, and one that it has replaced',
    files: {
      ...RECORD,
      [`${M}/certificates/certificates.json`]: json([OWN, caOf('medium-serving', 'CN=x', 'a1')]),
    },
  },
  {
    rule: 'medium-ca-in-use',
    of: 'an installation that has not ended',
    files: { [`${M}/certificates/certificates.json`]: json([LAPTOPS]) },
  },
  {
    rule: 'certificate-not-renewed',
    of: 'an exchanged kubeconfig whose old CA is still trusted',
    files: {
      [`${M}/steps/sno-renew.jsonl`]: step('15:00:02', 'conclude', 'failed', LAPTOP_TRUSTED),
    },
    finds: [
      {
        severity: 'failing',
        title:
          /^\/etc\/kubernetes\/pki\/ca\/laptop-admin\/ca\.crt is still trusted: .*accepts its clients/,
        todo: /systemctl start sno-renew/,
      },
    ],
  },
  {
    rule: 'certificate-not-renewed',
    of: "a leaf that was not accepted, and the kubelet's serving certificate",
    files: {
      [`${M}/steps/sno-renew.jsonl`]: [
        step('15:00:00', 'conclude', 'started'),
        step('15:00:02', 'conclude', 'failed', NOT_RENEWED),
      ].join(''),
    },
    finds: [
      {
        severity: 'failing',
        title:
          /^\/etc\/kubernetes\/pki\/kube-scheduler\/client\.crt was not renewed: .*restored: the API server does not accept it/,
        todo: /systemctl start sno-renew/,
        at: `${M}/steps/sno-renew.jsonl:2`,
      },
      {
        severity: 'failing',
        title: /^The kubelet's serving certificate was not renewed: .*has not requested/,
        todo: /^See "journalctl -u kubelet"\. Then/,
      },
      { severity: 'failing', title: /^The kubelet's serving certificate .*csr-7 is not approved/ },
    ],
  },
  {
    rule: 'certificate-not-renewed',
    of: 'a request of the kubelet that csr-pending reports, and a renewal that worked at last',
    files: {
      [`${M}/steps/sno-renew.jsonl`]: step('15:00:02', 'conclude', 'failed', PENDING),
      'resources/csr.json': json({
        items: [
          { metadata: { name: 'csr-7' }, spec: { signerName: 'kubernetes.io/kubelet-serving' } },
        ],
      }),
      'control-plane/other/steps/sno-renew.jsonl': [
        step('15:00:02', 'conclude', 'failed', NOT_RENEWED),
        step('15:10:00', 'conclude', 'done'),
      ].join(''),
    },
  },
  {
    rule: 'csr-pending',
    of: "the node's own request, which no agent has seen",
    files: {
      'resources/nodes.json': list(object('sno', {})),
      'resources/csr.json': list(
        object('csr-1', {
          created: '2026-11-21T14:50:00Z',
          spec: {
            signerName: 'kubernetes.io/kubelet-serving',
            username: 'system:node:sno',
            usages: ['server auth'],
          },
        }),
      ),
    },
    finds: [
      {
        severity: 'failing',
        title: /no agent has logged anything/,
        todo: /Kubernetes payload, run "systemctl start sno-renew".*OpenShift, .*"oc adm certificate approve csr-1"/,
      },
    ],
  },
];
