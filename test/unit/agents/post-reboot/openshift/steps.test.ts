import t, { type Test } from 'tap';
import { handOver } from '../../../../../agents/post-reboot/openshift/hand-over.ts';
import { reloadKubelet } from '../../../../../agents/post-reboot/openshift/reload-kubelet.ts';
import { restoreOverrides } from '../../../../../agents/post-reboot/openshift/restore-overrides.ts';
import { withdrawRights } from '../../../../../agents/post-reboot/openshift/withdraw-rights.ts';
import { announce, complete } from '../../../../../agents/steps/complete.ts';
import { servingCertificate } from '../../../../../agents/steps/serving-certificate.ts';
import { sha256 } from '../../../../../lib/host/files.ts';
import { bootstrapPodsFile } from '../../../../../lib/render/openshift/bootstrap-pods.ts';
import { kubeconfigs, listOf, refuse } from '../../host/api.ts';
import type { TestHost } from '../../host/host.ts';
import { type FakeContainer, fakeRuntime } from '../../host/runtime.ts';
import {
  bootstrapKubeconfig,
  clusterObjects,
  openShiftApi,
  openShiftHost,
  operatorKubeconfig,
} from './cluster-objects.ts';

const PATCH = '/opt/openshift/original_cvo_overrides.patch';
const VERSION = 'PATCH /apis/config.openshift.io/v1/clusterversions/version';

t.test('restore-overrides', async (t) => {
  t.test("applies the installer's patch", async (t) => {
    const host = openShiftHost(t);
    host.write(PATCH, '{"spec":{"overrides":null}}');
    const bodies: string[] = [];
    await openShiftApi(t, host, {
      [VERSION]: ({ body, headers }) => {
        bodies.push(`${headers['content-type']} ${body}`);
        return {};
      },
    });
    t.same(await host.run(restoreOverrides), { kind: 'done' });
    t.same(bodies, ['application/merge-patch+json {"spec":{"overrides":null}}']);
    t.equal(await host.holds(restoreOverrides), true);
  });

  t.test('without a patch there is nothing to undo', async (t) => {
    const host = openShiftHost(t);
    t.same(await host.run(restoreOverrides), {
      kind: 'done',
      note: 'the bootstrap has set none',
    });
  });
});

t.test('reload-kubelet', async (t) => {
  const kubelet = (t: Test, needsReload: string) => {
    const host = openShiftHost(t);
    host.programs.give(
      'systemctl',
      `case "$1" in show) echo NeedDaemonReload=${needsReload} ;; *) ;; esac`,
    );
    return host;
  };
  t.test('a new drop-in takes effect', async (t) => {
    const host = kubelet(t, 'yes');
    t.equal(await host.holds(reloadKubelet), false);
    t.same(await host.run(reloadKubelet), { kind: 'done', note: 'restarted' });
    t.same(host.programs.calls().slice(-2), [
      'systemctl daemon-reload',
      'systemctl restart kubelet.service',
    ]);
  });
  t.test('otherwise it goes on', async (t) => {
    const host = kubelet(t, 'no');
    t.equal(await host.holds(reloadKubelet), true);
    t.match(await host.run(reloadKubelet), { kind: 'done', note: /has not changed/ });
    t.notMatch(host.programs.calls().join('\n'), /restart/);
  });
});

t.test('hand-over', async (t) => {
  const manifest = (name: string) => `/etc/kubernetes/manifests/${name}`;
  const pods = ['etcd', 'kube-scheduler'].map((component) => ({
    component,
    role: component === 'etcd' ? ('database' as const) : ('leader' as const),
    file: `${component}-pod.yaml`,
    container: component,
    manifest: `bootstrap's ${component}`,
  }));
  async function host(
    t: Test,
    files: Readonly<Record<string, string>>,
    options: { notTakenOver?: string[]; containers?: FakeContainer[] } = {},
  ): Promise<TestHost> {
    const it = openShiftHost(t);
    const { path, contents } = bootstrapPodsFile(pods);
    it.write(path, contents);
    for (const [name, text] of Object.entries(files)) it.write(manifest(name), text);
    await openShiftApi(t, it, clusterObjects({ notTakenOver: options.notTakenOver ?? [] }));
    await fakeRuntime(t, it, () => options.containers ?? []);
    return it;
  }
  const replaced = { 'etcd-pod.yaml': "operator's", 'kube-scheduler-pod.yaml': "operator's" };

  t.test('what the operators have replaced is theirs', async (t) => {
    const it = await host(t, replaced);
    t.equal(await it.holds(handOver), true);
    t.same(await it.run(handOver), { kind: 'done', note: 'all replaced in place' });
    t.equal(it.read(manifest('etcd-pod.yaml')), "operator's");
  });

  t.test("the bootstrap's pod is deleted if the operator's has another file", async (t) => {
    const it = await host(t, {
      ...replaced,
      'kube-scheduler-pod.yaml': "bootstrap's kube-scheduler",
    });
    t.equal(await it.holds(handOver), false);
    t.same(await it.run(handOver), { kind: 'done', note: '1 deleted' });
    t.notOk(it.has(manifest('kube-scheduler-pod.yaml')));
    t.ok(it.has(manifest('etcd-pod.yaml')));
    t.match(it.lines.join(''), /Removed .*kube-scheduler-pod.yaml/);
    t.equal(await it.holds(handOver), true);
  });

  t.test("it is kept while the operator's pod does not run", async (t) => {
    const it = await host(
      t,
      { ...replaced, 'kube-scheduler-pod.yaml': "bootstrap's kube-scheduler" },
      { notTakenOver: ['kube-scheduler'] },
    );
    t.ok(await it.waitsFor(handOver, /kube-scheduler: the bootstrap's pod runs/));
    t.ok(it.has(manifest('kube-scheduler-pod.yaml')));
  });

  t.test('it is kept while a container mounts it', async (t) => {
    const containers = [{ name: 'x', mounts: [manifest('kube-scheduler-pod.yaml')] }];
    const files = { ...replaced, 'kube-scheduler-pod.yaml': "bootstrap's kube-scheduler" };
    const it = await host(t, files, { containers });
    t.match(await it.failureOf(handOver), { kind: 'retry', code: 'leftover-remains' });
    t.ok(it.has(manifest('kube-scheduler-pod.yaml')));
  });

  t.test('the folder of all static pods may be mounted', async (t) => {
    const containers = [{ name: 'etcd', mounts: ['/etc/kubernetes/manifests'] }];
    const files = { ...replaced, 'kube-scheduler-pod.yaml': "bootstrap's kube-scheduler" };
    const it = await host(t, files, { containers });
    t.match(await it.run(handOver), { note: '1 deleted' });
  });

  t.test('without its list nothing is deleted', async (t) => {
    const it = await host(t, { 'etcd-pod.yaml': "bootstrap's etcd" });
    it.remove('/etc/sno-agents/bootstrap-pods.json');
    t.match(await it.failureOf(handOver), { kind: 'fatal', message: /bootstrap-pods.json/ });
    t.ok(it.has(manifest('etcd-pod.yaml')));
  });

  t.test('the list has the digests of what the bootstrap wrote, and no other pod', async (t) => {
    const live = pods.map((pod) => ({ ...pod, role: 'bootstrap' as const }));
    const { contents, leftover } = bootstrapPodsFile([...pods, ...live]);
    t.ok(leftover);
    t.same(
      JSON.parse(contents),
      pods.map(({ component, file, manifest: text }) => ({
        component,
        path: manifest(file),
        sha256: sha256(text),
      })),
    );
  });
});

t.test('withdraw-rights deletes the role of the approver, also if it is gone', async (t) => {
  const host = openShiftHost(t);
  const rbac = 'DELETE /apis/rbac.authorization.k8s.io/v1';
  const name = 'sno-agents:csr-approver'.replace(':', '%3A');
  const requests = await openShiftApi(t, host, {
    [`${rbac}/clusterrolebindings/${name}`]: () => ({}),
    [`${rbac}/clusterroles/${name}`]: () => refuse(404),
  });
  t.same(await host.run(withdrawRights), { kind: 'done' });
  t.same(requests, [`${rbac}/clusterrolebindings/${name}`, `${rbac}/clusterroles/${name}`]);
});

t.test('the agents act for users with few rights', async (t) => {
  const STATUS = '/api/v1/namespaces/kube-system/configmaps';
  const status = () => {
    const seen: unknown[] = [];
    return {
      seen,
      answers: {
        [`GET ${STATUS}/sno-installation`]: () => refuse(404),
        [`POST ${STATUS}`]: ({ body, headers }: { body: string; headers: object }) => {
          seen.push([headers, JSON.parse(body).data.state]);
          return JSON.parse(body);
        },
      },
    };
  };
  const actor = {
    'impersonate-user': 'sno-agents:installation',
    'impersonate-group': 'sno-agents:installation',
  };

  t.test("complete, after the clean-up, by the operator's kubeconfig", async (t) => {
    const host = openShiftHost(t);
    const { seen, answers } = status();
    await openShiftApi(t, host, answers);
    host.write(operatorKubeconfig, host.read(bootstrapKubeconfig));
    host.remove(bootstrapKubeconfig);
    t.same(await host.run(complete), { kind: 'done' });
    t.match(seen, [[actor, 'complete']]);
  });

  t.test("announce, before it, by the bootstrap's", async (t) => {
    const host = openShiftHost(t);
    const { seen, answers } = status();
    await openShiftApi(t, host, answers);
    await announce(host.context, { step: 'api' }, AbortSignal.timeout(10_000));
    t.match(seen, [[actor, 'installing']]);
  });

  t.test('complete waits while there is no kubeconfig', async (t) => {
    const host = openShiftHost(t);
    t.match(await host.failureOf(complete), { kind: 'retry', message: /localhost.kubeconfig/ });
  });

  t.test('serving-certificate as the approver', async (t) => {
    const host = openShiftHost(t);
    host.write('/var/lib/kubelet/pki/keep');
    const users = new Set<unknown>();
    const asked = Promise.withResolvers<void>();
    const seen = ({ headers }: { headers: Record<string, unknown> }) => {
      users.add(headers['impersonate-user']);
      asked.resolve();
      return listOf();
    };
    await openShiftApi(t, host, {
      'GET /api/v1/nodes': seen,
      'GET /apis/certificates.k8s.io/v1/certificatesigningrequests': seen,
    });
    for (const path of Object.values(kubeconfigs)) host.remove(path);
    const stop = new AbortController();
    const running = servingCertificate.run(host.context, host.progress(stop.signal));
    await asked.promise;
    stop.abort(new Error('stopped by the test'));
    await t.rejects(running);
    t.same([...users], ['sno-agents:csr-approver']);
  });
});
