import { mkdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { productVersion } from '../../../lib/base/version.ts';
import { run } from '../../../lib/host/command.ts';
import { exists, readTextIfPresent, writeFilesAtomic } from '../../../lib/host/files.ts';
import type { HostPaths } from '../../../lib/host/paths.ts';
import { signText } from '../../../lib/pki/signature/ssh-signature.ts';
import {
  type FactoryReport,
  REPORT_NAMESPACE,
  reportPaths,
} from '../../../lib/relocation/relocatable/report.ts';
import type {
  NodeFacts,
  ShippingCheck,
} from '../../../lib/relocation/relocatable/validation/facts.ts';
import { shelfLife } from '../../../lib/relocation/relocatable/validation/judge.ts';
import { factoryPage } from '../../../report/html/factory-page.ts';
import { readHostFacts } from '../host-facts.ts';
import type { ValidateContext } from './context.ts';

const SIGN_MS = 30_000;

/** Writes the report for people and for programs, its signature, and the facts of the host. */
export async function writeReport(
  { paths, policy, node }: ValidateContext,
  facts: NodeFacts,
  checks: readonly ShippingCheck[],
  signal: AbortSignal,
): Promise<void> {
  const host = await readHostFacts(paths, node, policy);
  const life = shelfLife(facts.certificates);
  const report: FactoryReport = {
    apiVersion: 'sno-agents/v1',
    kind: 'FactoryReport',
    at: facts.now.toISOString(),
    version: productVersion,
    ...facts.versions,
    passed: checks.every(({ faults }) => faults.length === 0),
    shippingDays: facts.shippingDays,
    ...(life === undefined ? {} : { shelfLife: life }),
    checks: checks.map(({ name, faults, notes }) => ({
      name,
      faults: [...faults],
      notes: [...notes],
    })),
    host,
  };
  const text = `${JSON.stringify(report, null, 2)}\n`;
  const key = await signingKey(paths, signal);
  const namespace = { namespace: REPORT_NAMESPACE };
  const signature = await signText(text, key, namespace, { signal, deadlineMs: SIGN_MS });
  const to = reportPaths(paths);
  await mkdir(to.folder, { recursive: true, mode: 0o755 });
  const file = (path: string, contents: string) => ({ path, contents, mode: 0o644 });
  await writeFilesAtomic([
    file(to.json, text),
    file(to.page, factoryPage(report)),
    file(to.facts, `${JSON.stringify(host, null, 2)}\n`),
    file(to.key, (await readTextIfPresent(`${key}.pub`)) ?? ''),
    file(to.signature, signature),
  ]);
}

/** The host key that people who log in know; otherwise a key made for this purpose. */
async function signingKey(paths: HostPaths, signal: AbortSignal): Promise<string> {
  const ofHost = paths.at('/etc/ssh/ssh_host_ed25519_key');
  if (await exists(ofHost)) return ofHost;
  const own = join(paths.config, 'reconfigure', 'report-key');
  // The public half is written last.
  if (await exists(`${own}.pub`)) return own;
  await rm(own, { force: true });
  const args = ['-q', '-t', 'ed25519', '-N', '', '-C', 'factory report', '-f', own];
  await run('ssh-keygen', args, { signal, deadlineMs: SIGN_MS });
  return own;
}
