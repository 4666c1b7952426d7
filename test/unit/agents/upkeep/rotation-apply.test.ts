import t from 'tap';
import { type Phase, saveStaged } from '../../../../agents/steps/certificates/changes.ts';
import { applyPhase } from '../../../../agents/upkeep/rotate/apply.ts';
import { trustBoth } from '../../../../agents/upkeep/rotate/phases.ts';
import { addRestart, restartedFor } from '../../../../agents/upkeep/rotate/restarts.ts';
import { rotationFolder } from '../../../../lib/change/rotation/request.ts';
import { namesIn } from '../../../../lib/host/files.ts';
import { encryptionConfigPath } from '../../../../lib/render/kubernetes/encryption.ts';
import { schedulerTrust } from '../../../../lib/render/kubernetes/kube-scheduler.ts';
import { surgeRedirect } from '../../../../lib/render/kubernetes/surge-redirect.ts';
import { NEW, OLD, rotating } from './rotating-host.ts';

const fails = async () => {
  throw new Error('nobody accepts it');
};
const works = async () => {};

t.test('the old files are restored, and the reason is logged and thrown', async (t) => {
  const left: [phase: Phase, files: string[]][] = [
    ['trust-both', []],
    ['use-new', ['request.json', 'restarted.json', 'staged.json']],
  ];
  for (const [phase, files] of left) {
    const { host, context, kubelet } = await rotating(t);
    await t.rejects(applyPhase(context, phase, fails, host.progress()), {
      kind: 'fatal',
      code: 'rotation-rolled-back',
      cause: { message: 'nobody accepts it' },
    });
    t.equal(host.read(schedulerTrust.api), OLD);
    const { id } = context.request;
    const restarted = phase === 'use-new' ? ['kube-scheduler'] : [];
    t.same(await restartedFor(host.paths, id, phase), restarted, 'what was restarted is known');
    t.same(await restartedFor(host.paths, id, 'trust-new'), [], 'not in another phase');
    t.same([...kubelet.seen], [NEW, OLD], 'the pod was started with both');
    t.match(host.lines.join(''), new RegExp(`files of ${phase} did not work: nobody accepts it`));
    t.same(await namesIn(rotationFolder(host.paths)), files, phase);
  }
});

t.test('a service is restarted once its new files are there', async (t) => {
  const { host, context } = await rotating(t);
  const path = '/etc/kubernetes/pki/kubelet/api-ca.crt';
  host.write(path, 'old');
  host.write(encryptionConfigPath, 'old');
  await saveStaged(host.paths, {
    schemaVersion: 1,
    id: context.request.id,
    phases: {
      'trust-both': [encryptionConfigPath, path].map((each) => ({
        ...{ path: each, contents: 'both', mode: 0o644 },
      })),
      ...{ 'use-new': [], 'trust-new': [] },
    },
    retired: [],
  });
  host.programs.give(
    'systemctl',
    `[ "$1" != restart ] || cp "$ROOT${path}" "$ROOT/read"\necho ActiveEnterTimestampMonotonic=-60000000`,
  );
  await applyPhase(context, 'trust-both', works, host.progress());
  t.equal(host.read('/read'), 'both');
});

t.test('a kubelet that does not start with its new files: no pod is stopped', async (t) => {
  const { host, context, kubelet } = await rotating(t);
  const path = '/etc/kubernetes/pki/kubelet/api-ca.crt';
  host.write(path, OLD);
  const both = [path, schedulerTrust.api];
  const changes = both.map((each) => ({ path: each, contents: NEW, mode: 0o644 }));
  const phases = { 'trust-both': changes, 'use-new': [], 'trust-new': [] };
  await saveStaged(host.paths, { schemaVersion: 1, id: context.request.id, phases, retired: [] });
  const refuses = `[ "$1" = restart ] && grep -q '${NEW.trim()}' "$ROOT${path}" && exit 1`;
  host.programs.give('systemctl', `${refuses}\necho ActiveEnterTimestampMonotonic=-60000000`);
  await t.rejects(applyPhase(context, 'trust-both', works, host.progress()), {
    code: 'rotation-rolled-back',
  });
  t.same([...kubelet.seen], [OLD]);
});

t.test('a phase says what it has restarted, and not what another one has', async (t) => {
  const { host, context } = await rotating(t);
  await addRestart(host.paths, context.request.id, 'use-new', 'etcd');
  const note = 'restarted kube-scheduler';
  t.same(await trustBoth.run(context, host.progress()), { kind: 'done', note });
});

t.test('killed while it restores: the next start restores, and knows the reason', async (t) => {
  const { host, context, kubelet } = await rotating(t);
  const stop = new AbortController();
  const verify = async () => {
    kubelet.isReady = false;
    throw new Error('nobody accepts it');
  };
  const ended = applyPhase(context, 'use-new', verify, host.progress(stop.signal));
  ended.catch(() => undefined);
  await host.said(/Waiting for kube-scheduler to be ready: .kube-scheduler returned 500/);
  stop.abort(new Error('power cut'));
  await t.rejects(ended, { message: 'power cut' });
  // As if it had been killed before the old files were written.
  host.write(schedulerTrust.api, NEW);
  kubelet.isReady = true;
  kubelet.seen.clear();
  await t.rejects(applyPhase(context, 'use-new', works, host.progress()), {
    code: 'rotation-rolled-back',
    cause: { message: 'nobody accepts it' },
  });
  t.same([...kubelet.seen], [OLD], 'the new files were not tried again');
  await applyPhase(context, 'use-new', works, host.progress());
  t.equal(host.read(schedulerTrust.api), NEW, 'that is for the next start');
});

t.test('if the old files do not work either, both reasons are thrown', async (t) => {
  const { host, context, kubelet } = await rotating(t, { rotatePodMs: 1 });
  const verify = async () => {
    kubelet.isReady = false;
    throw new Error('nobody accepts it');
  };
  await t.rejects(applyPhase(context, 'use-new', verify, host.progress()), {
    kind: 'deadline',
    message:
      /use-new did not work, and the old ones do not.*kube-scheduler is not ready.*returned 500/,
    cause: { message: 'nobody accepts it' },
  });
  kubelet.isReady = true;
  await t.rejects(applyPhase(context, 'use-new', works, host.progress()), {
    code: 'rotation-rolled-back',
    cause: { message: 'nobody accepts it' },
  });
});

t.test('nft gets its rules in one line, and reads no file of the agent', async (t) => {
  const { host, context } = await rotating(t);
  host.programs.give('systemd-run', 'true');
  const rules = surgeRedirect({ serviceNetwork: ['172.30.0.0/16'] });
  await context.runNft(rules, AbortSignal.timeout(10_000));
  const [call = ''] = host.programs.calls();
  t.match(
    call,
    / -- nft table inet sno-surge; delete table inet sno-surge; .* redirect to :6444; \}; \}$/,
  );
});
