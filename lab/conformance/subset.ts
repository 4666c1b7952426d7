import { mkdir, readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { Failure } from '../../lib/base/errors/failure.ts';
import { copyFile } from '../../lib/host/copy.ts';
import type { RunningCluster } from '../checks/check.ts';
import { ensureComponent } from '../components/component.ts';
import { E2E_ARCHIVES, e2eImages } from '../components/e2e-images.ts';
import { e2eTest } from '../components/e2e-test.ts';
import { runSuite } from './suite.ts';
import { judge } from './verdict.ts';

/**
 * What a host with other keys, another name and another address could do wrong: tokens and their issuer, trust between API
 * server and kubelet, controllers, Services, the network of pods. None is slow, and none looks up names: the lab's site
 * has no DNS.
 */
const SUBSET = [
  'sig-auth.*ServiceAccounts.*(should mount an API token|guarantee kube-root-ca.crt|OIDC discovery)',
  'sig-auth.*Certificates API',
  'sig-apps.*Deployment.*(RollingUpdateDeployment|lifecycle)',
  'sig-apps.*Job should (run a job to completion|delete a job)',
  'sig-node.*Pods should (support remote command execution|support retrieving logs|be updated)',
  'sig-node.*(Secrets|ConfigMap) should be consumable via the environment',
  'sig-storage.*(Secrets|Projected secret) should be consumable from pods in volume \\[NodeConformance',
  'sig-network.*Services should (serve a basic endpoint|be able to switch session affinity for NodePort)',
  'sig-network.*Proxy.*A set of valid responses',
  'sig-api-machinery.*Namespaces.*should ensure that all pods are removed',
];
const FOCUS = `(${SUBSET.join('|')}).*\\[Conformance\\]`;
/** Those that these tests start. */
const IMAGES = /^(agnhost|busybox|httpd|pause)-/;
const LEAST_TESTS = 18;
const PROCESSES = 4;
const MINUTES = 6;
const IMPORT_MS = 120_000;

/**
 * Runs that subset; its log and reports are below `out`. Returns the number of tests that passed.
 *
 * @param address of the API server, by which its certificate is good; default: that of the host.
 */
export async function runSubset(
  cluster: RunningCluster,
  out: string,
  signal: AbortSignal,
  address: string = cluster.host.identity.addresses[0],
): Promise<number> {
  const within = { signal, report: () => undefined };
  const images = await ensureComponent(e2eImages, within);
  await mkdir(out, { recursive: true });
  await importImages(cluster, images, signal);
  const { kubeconfig, kubernetes } = cluster;
  const outcome = await runSuite({
    cluster: { address, kubeconfig, beside: async (command) => [...command] },
    ...{ images, kubernetes, out, signal },
    work: join(cluster.folder, 'conformance'),
    e2eTest: await ensureComponent(e2eTest, within),
    focus: FOCUS,
    skip: '',
    processes: PROCESSES,
    deadlineMinutes: MINUTES,
    report: () => undefined,
  });
  const { ok, unexpected } = judge(outcome, []);
  if (ok && outcome.passed.length >= LEAST_TESTS) return outcome.passed.length;
  throw new Failure('fatal', 'tests of conformance failed', {
    expected: `at least ${LEAST_TESTS} that pass`,
    found: `${outcome.passed.length} that passed, ${outcome.notRun} that did not run; ${unexpected.map(({ test, message }) => `${test}: ${message.slice(0, 200)}`).join('; ')}`,
    fix: `See ${join(out, 'e2e.log')}.`,
  });
}

async function importImages(
  { host }: RunningCluster,
  images: string,
  signal: AbortSignal,
): Promise<void> {
  const archives = join(images, E2E_ARCHIVES);
  const path = 'var/tmp/e2e-image.tar';
  const names = await readdir(archives);
  for (const name of names.filter((each) => IMAGES.test(each))) {
    await copyFile(join(archives, name), join(host.rootDir, path), 0o600, signal);
    const command = ['ctr', '-n', 'k8s.io', 'images', 'import', `/${path}`];
    const { exitCode, stderr } = await host.exec(command, { timeoutMs: IMPORT_MS }, signal);
    if (exitCode !== 0) {
      throw new Failure('fatal', `${name} cannot be imported`, { found: stderr });
    }
    await rm(join(host.rootDir, path));
  }
}
