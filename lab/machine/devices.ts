import { z } from 'zod';
import type { Monitor } from './monitor.ts';
import { DEVICES } from './qemu-arguments.ts';

/** The guest's kernel gives a device back; a busy one takes its time. */
const GIVEN_BACK_MS = 60_000;

const deletedSchema = z.object({ device: z.string().optional() });

/** What a person does at the machine: its drive, its sockets, its cable, its button. */
export class Devices {
  readonly #monitor: Monitor;

  constructor(monitor: Monitor) {
    this.#monitor = monitor;
  }

  /** Graceful shutdown, as far as the guest listens to its button. */
  async pressPowerButton(): Promise<void> {
    await this.#monitor.execute('system_powerdown');
  }

  /** Instead of what is in it. A virtual drive does not ask the guest, whose udev locks it. */
  async insertCd(iso: string): Promise<void> {
    await this.#monitor.execute('blockdev-change-medium', {
      id: DEVICES.cdDrive,
      filename: iso,
      format: 'raw',
      'read-only-mode': 'read-only',
      force: true,
    });
  }

  /** By force, as a paper clip does: the guest may have locked the drive. */
  async ejectCd(): Promise<void> {
    await this.#monitor.execute('eject', { id: DEVICES.cdDrive, force: true });
  }

  /** `image`: of a whole stick, raw. */
  async plugStick(name: string, image: string): Promise<void> {
    await this.#monitor.execute('blockdev-add', {
      ...{ driver: 'raw', 'node-name': name },
      file: { driver: 'file', filename: image },
    });
    await this.#plug(name);
  }

  /** The same for a stick of which no more is read in a second. It can be plugged once in a boot. */
  async plugSlowStick(name: string, image: string, bytesPerSecond: number): Promise<void> {
    const group = `${name}-group`;
    const limits = { 'bps-read': bytesPerSecond };
    await this.#monitor.execute('object-add', { 'qom-type': 'throttle-group', id: group, limits });
    await this.#monitor.execute('blockdev-add', {
      ...{ driver: 'throttle', 'node-name': name, 'throttle-group': group },
      file: { driver: 'file', filename: image },
    });
    await this.#plug(name);
  }

  async #plug(name: string): Promise<void> {
    const device = { id: name, drive: name, bus: `${DEVICES.usb}.0`, removable: true };
    await this.#monitor.execute('device_add', { driver: 'usb-storage', ...device });
  }

  /** Without asking the guest first. */
  async pullStick(name: string): Promise<void> {
    const isIt = (data: unknown) => deletedSchema.parse(data).device === name;
    const gone = this.#monitor.next('DEVICE_DELETED', isIt, GIVEN_BACK_MS);
    await Promise.all([gone, this.#monitor.execute('device_del', { id: name })]);
    await this.#monitor.execute('blockdev-del', { 'node-name': name });
  }

  /** Writes what is on the screen of the machine, a PNG. */
  async photograph(file: string): Promise<void> {
    await this.#monitor.execute('screendump', { filename: file, format: 'png' });
  }

  /** Whether the cable of the network has a carrier. */
  async setCarrier(up: boolean): Promise<void> {
    await this.#monitor.execute('set_link', { name: DEVICES.network, up });
  }

  /** From now on the disk with this serial number does no more than this, in both directions together. */
  async slowDisk(serial: string, bytesPerSecond: number): Promise<void> {
    const unlimited = { bps_rd: 0, bps_wr: 0, iops: 0, iops_rd: 0, iops_wr: 0 };
    await this.#monitor.execute('block_set_io_throttle', {
      // The device on the PCI bus has no disk: its child has.
      ...{ id: `/machine/peripheral/disk-${serial}/virtio-backend`, bps: bytesPerSecond },
      ...unlimited,
    });
  }
}
