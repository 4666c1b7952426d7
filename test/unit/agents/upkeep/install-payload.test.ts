import t, { type Test } from 'tap';
import { installPayload } from '../../../../agents/upkeep/payload/install-payload.ts';
import { testHost } from '../host/host.ts';
import { importingRuntime, writePayload } from '../host/payload.ts';
import { fakeRuntime } from '../host/runtime.ts';

const PAYLOAD = '/var/lib/sno-agents/payload';
const KUBELET = '/var/lib/sno-agents/bin/kubelet';
const PINNED = '/etc/sno-agents/payload.sha256';

async function host(t: Test, imported?: () => string) {
  const it = testHost(t);
  it.write(PINNED, `${writePayload(it, PAYLOAD)}  ${PAYLOAD}/payload.yaml\n`);
  await fakeRuntime(t, it, () => [], importingRuntime(it, imported));
  return it;
}

t.test('install-payload', async (t) => {
  t.test('imports the images and installs the binaries of the copy', async (t) => {
    const it = await host(t);
    t.equal(await it.holds(installPayload), false, 'before');
    t.same(await it.run(installPayload), { kind: 'done', note: '1 images, 1 binaries' });
    t.equal(it.read(KUBELET), 'a kubelet');
    t.equal(await it.holds(installPayload), true, 'after');
    t.match(
      it.programs.calls('sync')[0],
      new RegExp(`--file-system ${it.at('/var/lib/sno-agents/bin')}`),
    );
    it.programs.forgetCalls();
    await it.run(installPayload);
    t.same(
      it.programs.calls('ctr').filter((call) => call.includes('import')),
      [],
      'again: nothing is imported',
    );
    it.write(KUBELET, 'damaged', 0o755);
    t.equal(await it.holds(installPayload), false, 'a damaged binary');
    await it.run(installPayload);
    t.equal(it.read(KUBELET), 'a kubelet');
    it.remove('/imported');
    t.equal(await it.holds(installPayload), false, 'an image that was removed');
  });

  t.test("a description other than the installation's is rejected", async (t) => {
    const it = await host(t);
    it.write(PINNED, `${'0'.repeat(64)}  x\n`);
    t.match(await it.failureOf(installPayload), {
      kind: 'fatal',
      message: /expected SHA-256 0000.*Copy the payload/,
    });
    it.remove(PINNED);
    t.match(await it.failureOf(installPayload), {
      kind: 'fatal',
      message: /not the payload of this installation/,
    });
    t.same(it.programs.calls('ctr'), []);
    t.notOk(it.has(KUBELET));
  });

  t.test('a damaged file that the runtime refuses is named', async (t) => {
    const it = await host(t);
    it.write(`${PAYLOAD}/images/etcd.tar`, 'an imagf');
    it.programs.give('ctr', 'exit 1');
    t.match(await it.failureOf(installPayload), {
      kind: 'fatal',
      message: /damaged: images\/etcd\.tar/,
    });
    t.equal(await it.holds(installPayload), false);
  });

  t.test('another image under its name is refused', async (t) => {
    const it = await host(t, () => `sha256:${'0'.repeat(64)}`);
    t.match(await it.failureOf(installPayload), { kind: 'fatal', message: /etcd:3\.6\.8-0/ });
    t.equal(await it.holds(installPayload), false);
  });

  t.test('a new description runs the step again', async (t) => {
    const it = await host(t);
    const before = await installPayload.input(it.context);
    it.write(PINNED, 'another');
    t.not(await installPayload.input(it.context), before);
  });
});
