import { globSync } from 'node:fs';
import t from 'tap';
import { findingsOf } from '../../../report/findings.ts';
import { rules } from '../../../report/rules.ts';
import { read, root } from '../docs/documents.ts';
import { agentCases } from './cases-agents.ts';
import { apiCases } from './cases-api.ts';
import { backupCases } from './cases-backups.ts';
import { csrCases } from './cases-csr.ts';
import { deploymentCases } from './cases-deployments.ts';
import { diskCases } from './cases-disks.ts';
import { dnsCases } from './cases-dns.ts';
import { hostCases } from './cases-host.ts';
import { identityCases } from './cases-identity.ts';
import { renewalCases } from './cases-renewal.ts';
import { trialCases } from './cases-trial.ts';
import { waitingCases } from './cases-waiting.ts';
import { workloadCases } from './cases-workload.ts';
import { filesOf, viewOf } from './view.ts';

const cases = [
  ...hostCases,
  ...deploymentCases,
  ...diskCases,
  ...dnsCases,
  ...agentCases,
  ...identityCases,
  ...apiCases,
  ...csrCases,
  ...renewalCases,
  ...backupCases,
  ...trialCases,
  ...workloadCases,
  ...waitingCases,
];

for (const { rule, of, files, failures = [], finds = [] } of cases) {
  t.test(`${rule}: ${of}`, async (t) => {
    const view = viewOf(files, { failures });
    const found = rules.filter(({ name }) => name === rule).flatMap((one) => findingsOf(one, view));
    t.equal(found.length, finds.length, found.map(({ title }) => title).join(' | '));
    finds.forEach(({ severity, title, todo, at }, index) => {
      const finding = found[index];
      t.match(finding, { rule, severity, title, ...(todo === undefined ? {} : { todo }) });
      const [first] = finding?.evidence ?? [];
      if (at !== undefined) t.equal(`${first?.file}:${first?.line}`, at);
      for (const { file, line, text } of finding?.evidence ?? []) {
        const there = view.lines(file)[line - 1];
        t.type(there, 'string', `${file} has a line ${line}`);
        t.not(text, '', `${file}:${line} is shown`);
      }
    });
  });
}

t.test('every rule has a case with and a case without a finding', async (t) => {
  for (const { name } of rules) {
    const own = cases.filter(({ rule }) => rule === name);
    t.ok(
      own.some(({ finds }) => finds !== undefined),
      `${name} finds`,
    );
    t.ok(
      own.some(({ finds }) => finds === undefined),
      `${name} leaves alone`,
    );
  }
});

t.test('each rule has its own name, description and advice', async (t) => {
  t.equal(new Set(rules.map(({ name }) => name)).size, rules.length);
  for (const { name, looksFor, todo } of rules) {
    t.match(name, /^[a-z]+(-[a-z]+)*$/);
    t.ok(looksFor.length > 20 && todo.length > 20, name);
  }
});

t.test('fields of install-config.yaml are spelt as in its schema', async (t) => {
  const text = read('docs/reference/install-config.md');
  const sources = globSync('report/{rules,reading}/*.ts', { cwd: root }).map(read).join('');
  const fields = sources.match(/\bbootstrapInPlace\.\w+/g) ?? [];
  t.ok(fields.length > 0);
  for (const field of new Set(fields)) t.ok(text.includes(`\`${field}\``), field);
});

t.test('a healthy host has no errors and no warnings', async (t) => {
  const view = viewOf(filesOf('healthy'));
  const found = rules.flatMap((rule) => findingsOf(rule, view));
  t.strictSame(
    found.map(({ rule, title }) => `${rule}: ${title}`),
    [],
  );
});
