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

t.test(
  'a stick is gone when the guest has given it back, not when another device is',
  async (t) => {
    const deleted = (device?: string) => ({
      event: 'DEVICE_DELETED',
      data: { path: '/x', device },
    });
    const { devices, given } = await monitorThat(t, ({ execute }, socket) => {
      if (execute !== 'device_del') return;
      say(socket, deleted('another'));
      say(socket, deleted());
      say(socket, deleted('site'));
    });
    await devices.plugStick('site', '/volume.img');
    await devices.pullStick('site');
    t.same(given().slice(1), [
      [
        'blockdev-add',
        { driver: 'raw', 'node-name': 'site', file: { driver: 'file', filename: '/volume.img' } },
      ],
      [
        'device_add',
        { driver: 'usb-storage', id: 'site', drive: 'site', bus: 'usb.0', removable: true },
      ],
      ['device_del', { id: 'site' }],
      ['blockdev-del', { 'node-name': 'site' }],
    ]);
  },
);

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
