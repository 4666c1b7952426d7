/** Signals for a person without a screen. */
import { execFileSync } from 'node:child_process';
import t, { type Test } from 'tap';
import { runReconfigure } from '../../../../agents/reconfigure/main.ts';
import { runSignal } from '../../../../agents/reconfigure/run-signal.ts';
import { showPorts, showSignal } from '../../../../agents/reconfigure/signal.ts';
import type { TestHost } from '../host/host.ts';
import { factoryHost, insert } from './site-host.ts';

const LIGHTS = ['input3::capslock', 'input3::scrolllock', 'platform::indicator'];
const OTHERS = ['nvme0::activity', 'phy0-led', 'input3::kana'];
const brightness = (name: string) => `/sys/class/leds/${name}/brightness`;

/** A host with lights and a speaker, and what its lights showed at each pause. */
async function litHost(t: Test) {
  const host = await factoryHost(t);
  for (const name of [...LIGHTS, ...OTHERS]) host.write(brightness(name), '0\n');
  host.write(brightness('input3::capslock'), '1\n');
  host.write('/dev/tty1', '');
  host.programs.give('ipmitool', 'exit 1');
  const said: string[] = [];
  const write = (text: string) => void said.push(text);
  const seen: string[] = [];
  const show = async (...args: string[]) => {
    const pause = async () => {
      seen.push(LIGHTS.map((name) => host.read(brightness(name)).trim()).join(' '));
    };
    return runSignal(host.paths, args, { shownMs: 3000, pause, write });
  };
  const put = (host: TestHost) => LIGHTS.map((name) => host.read(brightness(name)).trim());
  return { host, said, seen, show, now: () => put(host) };
}

t.test('PASS: three beeps, and the lights are on, then as they were', async (t) => {
  const { host, said, seen, show, now } = await litHost(t);
  t.equal(await show('pass'), 0);
  t.equal(host.read('/dev/tty1').split('\u0007').length - 1, 3);
  t.equal(seen.at(-1), '255 255 255');
  t.same(now(), ['1', '0', '0']);
  for (const name of OTHERS) t.equal(host.read(brightness(name)), '0\n', name);
  t.match(said.join(''), /^Signal "pass": \/dev\/tty1, input3::capslock, input3::scrolllock, /);
});

t.test('FAIL: low beeps, and the lights blink, then are as they were', async (t) => {
  const { host, seen, show, now } = await litHost(t);
  await show('fail');
  t.match(host.read('/dev/tty1'), /\[10;300\]/);
  t.same(seen.slice(-6), Array(3).fill(['255 255 255', '0 0 0']).flat());
  t.same(now(), ['1', '0', '0']);
});

t.test('the light of a port without a cable, and that of the chassis', async (t) => {
  const { host, show } = await litHost(t);
  host.programs.give('ethtool', 'sleep 1; echo >> "$ROOT/blinked"');
  await show('ports', 'eno1', 'eno2');
  t.equal(host.read('/blinked'), '\n\n', 'until the program ends, which it does by itself');
  t.same(host.programs.calls('ethtool').toSorted(), [
    'ethtool --identify eno1 3',
    'ethtool --identify eno2 3',
  ]);
  await show('fail');
  t.same(host.programs.calls('ipmitool'), ['ipmitool chassis identify 3']);
});

t.test('the volume is read: a beep', async (t) => {
  const { host, show, now } = await litHost(t);
  await show('accepted');
  t.equal(host.read('/dev/tty1').split('\u0007').length - 1, 1);
  t.same(now(), ['1', '0', '0']);
});

t.test('a console that takes nothing is not waited for', async (t) => {
  const { host, said, show } = await litHost(t);
  host.remove('/dev/tty1');
  execFileSync('mkfifo', [host.at('/dev/tty1')]);
  t.equal(await show('accepted'), 0);
  t.equal(said.join(''), 'Signal "accepted": nothing to show it by\n');
});

t.test('replaced by the next signal, the lights are as they were', async (t) => {
  const { host, now } = await litHost(t);
  const write = () => undefined;
  const pause = async (ms: number) => {
    if (ms === 500) throw new Error('stopped');
  };
  t.equal(await runSignal(host.paths, ['fail'], { shownMs: 3000, pause, write }), 0);
  t.same(now(), ['1', '0', '0']);
});

t.test('a host that has neither is no error', async (t) => {
  const host = await factoryHost(t);
  for (const name of ['ipmitool', 'ethtool']) host.programs.give(name, 'exit 127');
  const said: string[] = [];
  const write = (text: string) => void said.push(text);
  for (const name of ['accepted', 'pass', 'fail', 'ports']) {
    t.equal(
      await runSignal(host.paths, [name], { shownMs: 1, pause: async () => {}, write }),
      0,
      name,
    );
  }
  t.match(said.join(''), 'Signal "pass": nothing to show it by\n');
  t.equal(
    await runSignal(host.paths, ['constructor'], { shownMs: 1, pause: async () => {}, write }),
    2,
  );
});

t.test('each runs in a unit of its own, which nobody waits for', async (t) => {
  const host = await factoryHost(t);
  await showSignal(host.paths, 'pass');
  await showPorts(host.paths, ['eno1', 'eno2']);
  const [stop, signal, ports] = host.programs.calls().filter((line) => /signal/.test(line));
  t.equal(stop, 'systemctl stop sno-signal.service', 'in place of the one before');
  t.match(signal, /--unit=sno-signal --no-block .* -- \S+\/sno-agents reconfigure signal pass$/);
  t.match(ports, /--unit=sno-signal-ports --no-block .* reconfigure signal ports eno1 eno2$/);
});

t.test('a refused volume is signalled', async (t) => {
  const host = await factoryHost(t);
  await insert(host, undefined, { labels: ['SITE-CONFIG', 'cluster-config'] });
  t.capture(process.stderr, 'write', () => true);
  t.capture(process.stdout, 'write', () => true);
  await runReconfigure(host.paths, ['run'], { write: () => undefined, isJournal: false });
  t.match(host.programs.calls('systemd-run').at(-1), / reconfigure signal fail$/);
});
