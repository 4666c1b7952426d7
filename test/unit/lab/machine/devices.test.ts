import type { Socket } from 'node:net';
import t from 'tap';
import { Devices } from '../../../../lab/machine/devices.ts';
import { Monitor } from '../../../../lab/machine/monitor.ts';
import { type Request, say, serveLines } from './server.ts';

const { signal } = new AbortController();

/** A monitor that accepts everything; `react` may say more. */
async function monitorThat(
  t: Parameters<typeof serveLines>[0],
  react: (request: Request, socket: Socket) => void = () => undefined,
) {
  const seen: Request[] = [];
  const path = await serveLines(t, (request, socket) => {
    seen.push(request);
    say(socket, { return: {}, id: request.id });
    react(request, socket);
  });
  const monitor = await Monitor.connect(path, 10_000, signal);
  t.teardown(async () => monitor.close());
  const given = () => seen.map(({ execute, arguments: args }) => [execute, args]);
  return { monitor, devices: new Devices(monitor), given };
}

t.test('negotiates before anything else', async (t) => {
  const { devices, given } = await monitorThat(t);
  await devices.pressPowerButton();
  t.same(given(), [
    ['qmp_capabilities', {}],
    ['system_powerdown', {}],
  ]);
});

t.test('a stick is gone when the guest has given back that one', async (t) => {
  const deleted = (device?: string) => ({ event: 'DEVICE_DELETED', data: { path: '/x', device } });
  const { monitor, devices, given } = await monitorThat(t, ({ execute }, socket) => {
    if (execute === 'device_del') {
      for (const other of ['another', undefined]) say(socket, deleted(other));
    }
    if (execute === 'query-status') say(socket, deleted('site'));
  });
  await devices.plugStick('site', '/volume.img');
  const pulled = devices.pullStick('site');
  // Two answers later, it still waits.
  for (const _ of [1, 2]) await monitor.execute('query-version');
  await monitor.execute('query-status');
  await pulled;
  const stick = { driver: 'raw', 'node-name': 'site' };
  const device = {
    driver: 'usb-storage',
    id: 'site',
    drive: 'site',
    bus: 'usb.0',
    removable: true,
  };
  t.same(given().slice(1), [
    ['blockdev-add', { ...stick, file: { driver: 'file', filename: '/volume.img' } }],
    ['device_add', device],
    ['device_del', { id: 'site' }],
    ['query-version', {}],
    ['query-version', {}],
    ['query-status', {}],
    ['blockdev-del', { 'node-name': 'site' }],
  ]);
});

t.test('what does not happen is given up at the deadline', async (t) => {
  const { monitor } = await monitorThat(t);
  await t.rejects(
    monitor.next('DEVICE_DELETED', () => true, 1),
    { message: /DEVICE_DELETED/ },
  );
});

t.test('knows in the words of qemu why the machine went down', async (t) => {
  const { monitor, devices } = await monitorThat(t, ({ execute }, socket) => {
    if (execute !== 'system_powerdown') return;
    say(socket, { event: 'SHUTDOWN', data: { guest: true, reason: 'guest-shutdown' } });
  });
  t.equal(monitor.shutdownReason, undefined);
  const down = monitor.next('SHUTDOWN', () => true, 10_000);
  await devices.pressPowerButton();
  await down;
  t.equal(monitor.shutdownReason, 'guest-shutdown');
});
