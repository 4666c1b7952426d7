import { json, M, type RuleCase } from './rule-case.ts';

const DEPLOYMENT = `${M}/agents/deployment.json`;

export const deploymentCases: readonly RuleCase[] = [
  {
    rule: 'earlier-etc',
    of: 'a rollback of the operating system after the CAs were replaced',
    files: {
      [DEPLOYMENT]: json({
        deployment: '/sysroot/b.0',
        older: { deployment: '/sysroot/a.0', files: ['/etc/kubernetes/pki/ca.crt'] },
      }),
    },
    finds: [
      {
        severity: 'failing',
        title: /^The \/etc of \/sysroot\/a\.0, .*ca\.crt changed since, in \/sysroot\/b\.0$/,
        at: `${DEPLOYMENT}:6`,
      },
    ],
  },
  {
    rule: 'earlier-etc',
    of: 'a deployment that has its own /etc',
    files: { [DEPLOYMENT]: json({ deployment: '/sysroot/b.0' }) },
  },
];
