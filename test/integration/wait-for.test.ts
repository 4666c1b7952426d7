import { mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import t from 'tap';
import { runSno } from '../../cli/sno.ts';
import { startControlPlane } from '../../lab/servers/control-plane.ts';
import { publishBootstrapComplete } from '../../lib/clients/kube/bootstrap-complete.ts';
import { KubeClient } from '../../lib/clients/kube/client.ts';
import {
  installationStatusAccess,
  publishInstallationStatus,
  statusIdentity,
} from '../../lib/clients/kube/installation-status.ts';
import { resources } from '../../lib/clients/kube/resources.ts';
import { hostPaths } from '../../lib/host/paths.ts';
import { accessTo } from '../../lib/render/access.ts';
import { signedAccess } from '../../lib/render/signed-access.ts';

const signal = AbortSignal.timeout(20 * 60_000);
const limits = { signal, deadlineMs: 30_000 };
const folder = t.testdir({ host: {}, D: { auth: {} } });
const dir = join(folder, 'D');
const log = join(dir, '.sno.log');
const CLUSTER = '0b9bd1a2-8a5e-4bb5-9c1f-3a0f7c7f3c11';
const OTHER = '9d2b1a52-5a3e-4d41-8f0e-6b1a51c0de22';

const controlPlane = await startControlPlane(join(folder, 'servers'), signal, {
  lifetimeMs: 480_000,
});
t.teardown(() => controlPlane.stop());
const admin = await controlPlane.client();
t.teardown(() => admin[Symbol.dispose]());
writeFileSync(
  join(dir, 'auth/kubeconfig'),
  await controlPlane.kubeconfig({ name: 'admin', groups: ['system:masters'] }),
);

/** The host's CAs, where the agent expects them. */
function hostWithAuthorities() {
  const paths = hostPaths(join(folder, 'host'));
  const { gather } = accessTo('kubernetes');
  const { authority } = controlPlane;
  const write = (path: string, text: string) => {
    mkdirSync(dirname(paths.at(path)), { recursive: true });
    writeFileSync(paths.at(path), text);
  };
  write(gather.ca, authority.certificate);
  write(gather.signer.certificate, authority.certificate);
  write(gather.signer.key, authority.key);
  return paths;
}

/** As the agent on the host accesses the API, except for the port. */
const access = await signedAccess('kubernetes', hostWithAuthorities(), statusIdentity);
const agent = new KubeClient({ ...access, server: controlPlane.server });
t.teardown(() => agent[Symbol.dispose]());

const status = (
  state: 'installing' | 'complete' | 'failed',
  step: string,
  clusterId = CLUSTER,
) => ({
  version: '0.1.0',
  state,
  step,
  time: '2026-01-02T03:04:05.000Z',
  clusterId,
});
const published = async () =>
  (
    await admin.find(
      resources.configMaps,
      { namespace: 'kube-system', name: 'sno-installation' },
      limits,
    )
  )?.data;

/** Runs `sno wait-for`; `until` resolves when the pattern matches its output. */
function waitFor(...args: string[]) {
  const printed: string[] = [];
  const waiting: { pattern: RegExp; resolve: () => void }[] = [];
  const complain = (text: string) => {
    printed.push(text);
    for (const { pattern, resolve } of waiting) if (pattern.test(text)) resolve();
  };
  const code = runSno(['wait-for', ...args, '--dir', dir], {
    environment: {},
    print: complain,
    complain,
    signal,
  });
  const until = (pattern: RegExp) =>
    new Promise<void>((resolve) => {
      if (printed.some((text) => pattern.test(text))) resolve();
      else waiting.push({ pattern, resolve });
    });
  return { code, until, printed };
}

t.test('the status is refused to an identity without the rights', async (t) => {
  await t.rejects(publishInstallationStatus(agent, status('installing', 'api'), limits), {
    code: 403,
  });
});

t.test('the agent may write the status, and nothing else', async (t) => {
  for (const object of installationStatusAccess()) {
    const { kind } = Object(object);
    await admin.json(
      {
        method: 'POST',
        path: `/apis/rbac.authorization.k8s.io/v1/namespaces/kube-system/${String(kind).toLowerCase()}s`,
        body: object,
      },
      limits,
    );
  }
  await publishBootstrapTo('other', 'open');
  await publishInstallationStatus(agent, status('installing', 'node-ready'), limits);
  t.same(await published(), status('installing', 'node-ready'));
  await publishInstallationStatus(agent, status('failed', 'steady-state'), limits);
  t.same(await published(), status('failed', 'steady-state'));
  const other = { namespace: 'kube-system', name: 'other' };
  await t.rejects(agent.get(resources.configMaps, other, limits), { code: 403 });
  await t.rejects(agent.replace(resources.configMaps, other, {}, limits), { code: 403 });
  await t.rejects(agent.list(resources.configMaps, { namespace: 'kube-system' }, limits), {
    code: 403,
  });
  for (const path of ['/api/v1/secrets', '/api/v1/namespaces/kube-system/secrets']) {
    await t.rejects(agent.json({ method: 'GET', path }, limits), { code: 403 });
  }
  await t.rejects(
    agent.remove(
      resources.configMaps,
      { namespace: 'kube-system', name: 'sno-installation' },
      limits,
    ),
    { code: 403 },
  );
});

async function publishBootstrapTo(name: string, value: string): Promise<void> {
  const metadata = { name, namespace: 'kube-system' };
  const body = { apiVersion: 'v1', kind: 'ConfigMap', metadata, data: { status: value } };
  await admin.create(resources.configMaps, { namespace: 'kube-system' }, body, limits);
}

t.test('complete is final for one installation', async (t) => {
  await publishInstallationStatus(agent, status('complete', 'complete'), limits);
  await publishInstallationStatus(agent, status('installing', 'retire'), limits);
  t.same(await published(), status('complete', 'complete'));
  await publishInstallationStatus(agent, status('installing', 'api', OTHER), limits);
  t.same(await published(), status('installing', 'api', OTHER));
});

t.test('install-complete follows the status across restarts of the API server', async (t) => {
  await controlPlane.stopApiServer();
  const run = waitFor('install-complete', '--timeout', '5m');
  await run.until(/Still waiting: GET .*ECONNREFUSED/);
  await controlPlane.startApiServer();
  await run.until(/Still waiting: installing, step api/);
  await publishInstallationStatus(admin, status('installing', 'clean', OTHER), limits);
  await run.until(/installing, step clean/);
  await controlPlane.stopApiServer();
  await controlPlane.startApiServer();
  await publishInstallationStatus(admin, status('complete', 'complete', OTHER), limits);
  t.equal(await run.code, 0);
  t.match(run.printed.at(-2), /^INFO No longer waiting for the installation to complete/);
  t.match(run.printed.at(-1), /^INFO .*kubeconfig is not one that sno created/);
  t.equal(statSync(log).mode & 0o777, 0o600);
  const text = readFileSync(log, 'utf8');
  t.match(text, /^time="[-0-9T:.]+Z" level=info msg="Waiting up to 5m0s for the installation/);
  t.match(text, /msg="Still waiting: installing, step clean"/);
});

t.test('a failed installation ends the wait with exit code 4', async (t) => {
  await publishInstallationStatus(
    admin,
    { ...status('failed', 'steady-state', CLUSTER), message: 'etcd restarted 7 times' },
    limits,
  );
  const run = waitFor('install-complete');
  t.equal(await run.code, 4);
  t.match(
    run.printed.at(-1),
    /failed in step steady-state; found etcd restarted 7 times\. .*bootkube/,
  );
});

t.test('a deadline is exit code 3, with the last observation', async (t) => {
  const run = waitFor('bootstrap-complete', '--timeout', '8s', '--log-level', 'error');
  t.equal(await run.code, 3);
  t.equal(run.printed.length, 1, 'progress is below the level');
  t.match(
    run.printed[0],
    /waited 8s for the bootstrap to complete; found the bootstrap is running/,
  );
  t.match(readFileSync(log, 'utf8'), /level=info msg="Still waiting: the bootstrap is running"/);
});

t.test('bootstrap-complete reads what openshift-install reads', async (t) => {
  const run = waitFor('bootstrap-complete', '--timeout', '5m');
  await run.until(/the bootstrap is running/);
  await publishBootstrapComplete(admin, limits);
  t.equal(await run.code, 0);
});

t.test('a name that this machine does not know is said, with the line that helps', async (t) => {
  const name = 'api.no-such-cluster.invalid';
  const elsewhere = t.testdir({ auth: {} });
  const text = readFileSync(join(dir, 'auth/kubeconfig'), 'utf8');
  const unknown = text.replace(/server: .*/, `server: https://${name}:6443`);
  writeFileSync(join(elsewhere, 'auth/kubeconfig'), unknown);
  const said: string[] = [];
  const args = ['wait-for', 'install-complete', '--dir', elsewhere, '--timeout', '1s'];
  const code = await runSno(args, {
    environment: {},
    print: () => {},
    complain: (line) => said.push(line),
    signal,
  });
  t.not(code, 0);
  t.match(
    said.join('\n'),
    new RegExp(`WARN .* do not know ${name}.* /etc/hosts.*"ADDRESS ${name}"`),
  );
});
