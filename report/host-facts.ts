import { WRITTEN_FOLDERS } from '../lib/host/written-folders.ts';
import type { BundleView } from './bundle-view.ts';
import { hostFiles } from './reading/hosts.ts';
import { reportedObjects } from './reading/objects.ts';
import { listAt, numberAt, textAt, textsAt } from './reading/values.ts';
import { bytes, percent, plural, time } from './reading/words.ts';
import type { HostFact } from './schema.ts';

type Read = (view: BundleView) => HostFact | undefined;

/** What a support engineer asks first; facts missing from the bundle are omitted. */
export function hostFacts(view: BundleView): HostFact[] {
  return FACTS.flatMap((read) => read(view) ?? []);
}

/** The value from the first host file of that name that has one. */
function fromFile(
  name: string,
  file: string,
  value: (view: BundleView, path: string) => string | undefined,
): Read {
  return (view) => {
    for (const path of hostFiles(view, file)) {
      const found = value(view, path);
      if (found !== undefined && found !== '') return { name, value: found, file: path };
    }
    return undefined;
  };
}

const lineLike =
  (pattern: RegExp) =>
  (view: BundleView, path: string): string | undefined => {
    for (const line of view.lines(path)) {
      const found = pattern.exec(line)?.[1];
      if (found !== undefined) return found;
    }
    return undefined;
  };

const field =
  (...keys: string[]) =>
  (view: BundleView, path: string) =>
    textAt(view.json(path), ...keys);

const FACTS: readonly Read[] = [
  fromFile('Host', 'network/hostname.txt', lineLike(/^\s*(?:Static hostname:\s*)?([\w.-]+)\s*$/)),
  (view) => {
    const [node, ...others] = reportedObjects(view, 'nodes');
    if (node === undefined) return undefined;
    const value = others.length === 0 ? node.name : `${node.name} and ${others.length} more`;
    return { name: 'Node', value, file: 'resources/nodes.json' };
  },
  fromFile('Cluster', 'agents/record.json', field('cluster')),
  fromFile('Cluster', 'agents/cluster.json', (view, path) => {
    const raw = view.json(path);
    const [name, domain] = [textAt(raw, 'name'), textAt(raw, 'baseDomain')];
    return name === undefined ? undefined : `${name}.${domain ?? ''}`;
  }),
  fromFile('Installed', 'agents/record.json', field('completed')),
  fromFile('System', 'os-release.txt', lineLike(/^PRETTY_NAME="?([^"]*)/)),
  fromFile('Kernel', 'proc/version.txt', lineLike(/^Linux version (\S+)/)),
  (view) => {
    const [node] = reportedObjects(view, 'nodes');
    const version = textAt(node?.raw, 'status', 'nodeInfo', 'kubeletVersion');
    const runtime = textAt(node?.raw, 'status', 'nodeInfo', 'containerRuntimeVersion');
    if (version === undefined) return undefined;
    const value = runtime === undefined ? version : `${version}, ${runtime}`;
    return { name: 'Kubernetes', value, file: 'resources/nodes.json' };
  },
  fromFile('Addresses', 'network/ip-addr.json', (view, path) =>
    listAt(view.json(path))
      .flatMap((link) =>
        listAt(link, 'addr_info')
          .filter((address) => textAt(address, 'scope') === 'global')
          .map((address) => `${textAt(address, 'local')} (${textAt(link, 'ifname')})`),
      )
      .slice(0, 6)
      .join(', '),
  ),
  fromFile('Boots', 'systemd/boots.json', (view, path) => {
    const boots = listAt(view.json(path));
    const starts = boots.map((boot) => numberAt(boot, 'first_entry') ?? 0);
    const micros = Math.max(0, ...starts) || undefined;
    const since = micros === undefined ? '' : `, the last at ${time(micros / 1000)}`;
    return boots.length === 0
      ? undefined
      : `${plural(boots.length, 'boot')} in the journal${since}`;
  }),
  fromFile('Up for', 'proc/uptime.txt', (view, path) => {
    const seconds = Number(/^[\d.]+/.exec(view.lines(path)[0] ?? '')?.[0]);
    return Number.isFinite(seconds) ? plural(Math.round(seconds / 60), 'minute') : undefined;
  }),
  fromFile('Load', 'proc/loadavg.txt', lineLike(/^([\d.]+ [\d.]+ [\d.]+)/)),
  fromFile('Memory', 'proc/meminfo.txt', (view, path) => {
    const read = (name: string) =>
      Number(lineLike(new RegExp(`^${name}:\\s+(\\d+) kB`))(view, path)) * 1024;
    const [total, available] = [read('MemTotal'), read('MemAvailable')];
    if (!(total > 0) || Number.isNaN(available)) return undefined;
    return `${bytes(available)} of ${bytes(total)} available`;
  }),
  fromFile('Disk', 'disks/df.json', (view, path) => {
    const all = listAt(view.json(path));
    const found = [
      ...all.filter((raw) => textsAt(raw, 'writes').includes(WRITTEN_FOLDERS[0])),
      // Of earlier releases, which did not say what is written to it.
      ...['/var', '/sysroot', '/'].flatMap(
        (target) => all.find((raw) => textAt(raw, 'target') === target) ?? [],
      ),
    ];
    const [size, free] = [numberAt(found[0], 'sizeBytes'), numberAt(found[0], 'availableBytes')];
    if (size === undefined || free === undefined || size <= 0) return undefined;
    return `${bytes(free)} of ${bytes(size)} free on ${textAt(found[0], 'target')} (${percent(free / size)})`;
  }),
  fromFile('Clock', 'systemd/time.txt', (view, path) => {
    const synchronized = lineLike(/^NTPSynchronized=(\w+)/)(view, path);
    const zone = lineLike(/^Timezone=(\S+)/)(view, path);
    if (synchronized === undefined) return undefined;
    return `${synchronized === 'yes' ? 'synchronized' : 'not synchronized'} by NTP${zone === undefined ? '' : `, ${zone}`}`;
  }),
];
