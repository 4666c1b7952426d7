import { readdir, readFile } from 'node:fs/promises';
import { basename } from 'node:path';
import { quickly } from '../host/command.ts';
import type { Host } from '../host/host.ts';
import { attachLoopDevice, detachLoopDevice } from '../host/loop.ts';
import { teardownSignal } from '../host/mount.ts';
import type { Teardown } from '../host/teardown.ts';

const COMMAND_MS = 60_000;

/** A drive for CDs or sticks, in which a host finds what a person inserts. */
export class Drive {
  #device: string | undefined;
  readonly #readOnly: boolean;

  /** @param options a CD is read-only, a stick usually not */
  constructor(teardown: Teardown, { readOnly = true }: { readonly readOnly?: boolean } = {}) {
    this.#readOnly = readOnly;
    teardown.add('empty the drive', () => this.#detach());
  }

  /** The kernel's path of the device, while something is in it. */
  get device(): string | undefined {
    return this.#device;
  }

  /** @param isTold false: the host notices it when it is announced. */
  async insert(host: Host, image: string, signal: AbortSignal, isTold = true): Promise<void> {
    await this.#detach();
    this.#device = await attachLoopDevice(image, { readOnly: this.#readOnly }, signal);
    // The kernel here may have no parser for partitions. Without a table it fails.
    await quickly('partx', ['--add', this.#device], signal).catch(() => undefined);
    await this.appear(host, signal, isTold);
  }

  /** Another medium in the same drive, without a moment in which the drive is gone. */
  async swap(host: Host, image: string, signal: AbortSignal): Promise<void> {
    const device = this.#device;
    if (device === undefined) throw new Error('nothing is in the drive');
    await detachLoopDevice(device, signal);
    await quickly('losetup', ['--read-only', device, image], signal);
    await tell(host, 'change', basename(device), signal);
  }

  /** The host, also one that is just starting, sees what is in the drive. */
  async appear(host: Host, signal: AbortSignal, isTold = true): Promise<void> {
    for (const name of await this.#names()) {
      const numbers = await readFile(`/sys/class/block/${name}/dev`, 'utf8');
      const [major = '', minor = ''] = numbers.trim().split(':');
      await inside(host, ['mknod', '-m', '660', `/dev/${name}`, 'b', major, minor], signal);
      await inside(host, ['chgrp', 'disk', `/dev/${name}`], signal);
    }
    if (isTold) await this.announce(host, signal);
  }

  /** As the kernel does when a medium has come. */
  async announce(host: Host, signal: AbortSignal): Promise<void> {
    for (const name of await this.#names()) await tell(host, 'change', name, signal);
  }

  /** A person pulls it out. */
  async eject(host: Host, signal: AbortSignal): Promise<void> {
    for (const name of await this.#names()) {
      await tell(host, 'remove', name, signal);
      await inside(host, ['rm', '-f', `/dev/${name}`], signal);
    }
    await this.#detach();
  }

  /** Of the device and of the partitions on it. */
  async #names(): Promise<string[]> {
    if (this.#device === undefined) return [];
    const name = basename(this.#device);
    const below = await readdir(`/sys/class/block/${name}/`);
    return [name, ...below.filter((each) => each.startsWith(`${name}p`))];
  }

  async #detach(): Promise<void> {
    if (this.#device === undefined) return;
    await detachLoopDevice(this.#device, teardownSignal());
    this.#device = undefined;
  }
}

/** As the kernel would tell udev: a container's receives no events of other namespaces. */
const tell = (host: Host, action: string, name: string, signal: AbortSignal) =>
  inside(host, ['udevadm', 'trigger', `--action=${action}`, `/sys/class/block/${name}`], signal);

async function inside(host: Host, argv: readonly string[], signal: AbortSignal): Promise<void> {
  await host.exec(argv, { timeoutMs: COMMAND_MS }, signal);
}
