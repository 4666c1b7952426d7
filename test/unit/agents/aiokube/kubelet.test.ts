import t from 'tap';
import { nodeKubelet } from '../../../../agents/steps/kubelet.ts';
import { testHost } from '../host/host.ts';
import { giveRendered, rendered } from '../host/rendered.ts';
import { endPauses } from '../host/timers.ts';

/** Answers of systemctl: the state of the kubelet and of the units that it requires. */
const systemctl = (kubelet: string, payload: string, certificates: string) =>
  `case "$1 $2" in
    "show kubelet.service") echo ActiveState=${kubelet}; echo NRestarts=0 ;;
    "show sno-payload.service") echo ActiveState=${payload} ;;
    "show sno-certificates.service") echo ActiveState=${certificates} ;;
    "show "*) exit 97 ;;
  esac`;

t.test('the kubelet of a node', async (t) => {
  t.test('is enabled with the units that it requires, then started', async (t) => {
    const it = testHost(t);
    await giveRendered(it);
    it.programs.give('systemctl', systemctl('activating', 'activating', 'inactive'));
    const answers = [false, true];
    const prepared = '/run/sno-agents/kubelet-prepared';
    t.capture(globalThis, 'fetch', async () => {
      if (answers.length > 0)
        t.ok(it.has(prepared), 'the payload was verified by an earlier step, and is not again');
      if (answers.shift() === false) throw new TypeError('fetch failed');
      return new Response('ok');
    });
    endPauses(t, 5000);
    t.same(await it.run(nodeKubelet), { kind: 'done' });
    t.same(it.programs.calls().slice(0, 4), [
      'systemctl enable --no-reload sno-payload.service sno-certificates.service kubelet.service',
      // Of the modules that were rendered after the boot.
      'systemctl restart systemd-modules-load.service',
      'systemctl daemon-reload',
      'systemctl start --no-block kubelet.service',
    ]);
    t.notOk(it.has(prepared), 'later starts verify the payload');
    for (const { file, manifest, component } of rendered.staticPods) {
      const path = `/etc/kubernetes/manifests/${file}`;
      if (component === 'etcd' || component === 'kube-apiserver') t.equal(it.read(path), manifest);
      else t.notOk(it.has(path), `${component} waits for the API`);
    }
    t.equal(await it.holds(nodeKubelet), true);
  });

  for (const [unit, payload, certificates] of [
    ['sno-payload', 'failed', 'inactive'],
    ['sno-certificates', 'active', 'failed'],
  ] as const) {
    t.test(`does not wait for one that cannot start, because of ${unit}`, async (t) => {
      const it = testHost(t);
      await giveRendered(it);
      it.programs.give('systemctl', systemctl('inactive', payload, certificates));
      t.capture(globalThis, 'fetch', async () => {
        throw new TypeError('fetch failed');
      });
      t.match(await it.failureOf(nodeKubelet), {
        kind: 'retry',
        message: new RegExp(`${unit}\\.service has failed.*journalctl -u ${unit}\\.service`),
      });
      t.notOk(it.has('/run/sno-agents/kubelet-prepared'), 'the next start verifies');
      t.equal(await it.holds(nodeKubelet), false);
    });
  }

  t.test('starts again for another configuration of a node, and for no other file', async (t) => {
    const it = testHost(t);
    await giveRendered(it);
    const before = JSON.stringify(await nodeKubelet.input(it.context));
    const change = async (path: string) => {
      const files = rendered.files.map((file) =>
        file.path === path ? { ...file, contents: 'x' } : file,
      );
      await giveRendered(it, { files });
      return JSON.stringify(await nodeKubelet.input(it.context));
    };
    t.not(await change('/etc/kubernetes/other.yaml'), before);
    t.equal(await change('/etc/kubernetes/kubelet.yaml'), before, 'that of a standalone kubelet');
  });
});
