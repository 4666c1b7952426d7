import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { type HostPaths, hostPaths } from '../../../lib/host/paths.ts';

/** One device of a recorded sysfs. */
export interface Recorded {
  readonly number: string;
  /** In sectors of 512 bytes. */
  readonly size?: number;
  /** By path below the device's folder. */
  readonly attributes?: Readonly<Record<string, string>>;
  readonly holders?: readonly string[];
  readonly slaves?: readonly string[];
  readonly partitions?: Readonly<Record<string, Recorded>>;
}

export interface RecordedHost {
  readonly devices: Readonly<Record<string, Recorded>>;
  readonly mountinfo?: string;
  /** Lines after the heading. */
  readonly swaps?: string;
  /** Devices that claim a link, by the link's name below /dev. */
  readonly links?: Readonly<Record<string, readonly string[]>>;
  readonly inContainer?: boolean;
}

const SWAPS = 'Filename\t\t\t\tType\t\tSize\t\tUsed\t\tPriority\n';

/** Fills a folder with the kernel's and udev's files that the agents read, in the same layout. */
export function kernelTree(root: string, host: RecordedHost): HostPaths {
  const paths = hostPaths(root);
  const write = (path: string, contents = '') => {
    mkdirSync(dirname(paths.at(path)), { recursive: true });
    writeFileSync(paths.at(path), contents);
  };
  const addDevice = (parent: string, name: string, recorded: Recorded) => {
    const folder = `${parent}/${name}`;
    const { number, size = 2 ** 26, attributes = {}, holders = [], slaves = [] } = recorded;
    const files = { dev: number, size: `${size}`, ro: '0', ...attributes };
    for (const [file, value] of Object.entries(files)) write(`${folder}/${file}`, `${value}\n`);
    for (const holder of holders) write(`${folder}/holders/${holder}`);
    for (const slave of slaves) write(`${folder}/slaves/${slave}`);
    write(`/dev/${name}`);
    symlinkSync(paths.at(folder), join(paths.at('/sys/class/block'), name));
    for (const [part, of] of Object.entries(recorded.partitions ?? {})) {
      addDevice(folder, part, of);
    }
  };
  mkdirSync(paths.at('/sys/class/block'), { recursive: true });
  for (const [name, recorded] of Object.entries(host.devices)) {
    addDevice('/sys/devices/block', name, recorded);
  }
  write('/proc/self/mountinfo', host.mountinfo);
  write('/proc/swaps', SWAPS + (host.swaps ?? ''));
  for (const [link, numbers] of Object.entries(host.links ?? {})) {
    const folder = `/run/udev/links/${`/${link}`.replaceAll('\\', '\\x5c').replaceAll('/', '\\x2f')}`;
    for (const number of numbers) write(`${folder}/b${number}`);
  }
  if (host.inContainer === true) write('/run/systemd/container', 'systemd-nspawn\n');
  return paths;
}
