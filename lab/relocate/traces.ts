import { execa } from 'execa';
import { Failure } from '../../lib/base/errors/failure.ts';
import { type Disk, inspectDisk } from '../host/disk.ts';

const SEARCH_MS = 5 * 60_000;
/** Everything but programs and libraries. */
const FOLDERS = ['boot', 'etc', 'home', 'opt', 'root', 'srv', 'var'];

/** Where a node that got the name and the address of its site still has something of its factory. */
export interface Trace {
  /** A file, or a folder that ends in `/`; as docs/relocation.md has it. */
  readonly path: string;
  readonly why: string;
}

export const TRACES: readonly Trace[] = [
  {
    path: '/etc/sno-agents/factory.json',
    why: 'what the factory fixed for the node: its internal address, whose site configuration it takes',
  },
  {
    path: '/etc/NetworkManager/system-connections/br-node.nmconnection',
    why: 'the internal address',
  },
  {
    path: '/etc/default/nodeip-configuration',
    why: 'the address of the installation; only hosts of OpenShift read it',
  },
  {
    path: '/var/lib/sno-agents/factory/',
    why: 'the report of the factory',
  },
  {
    path: '/var/lib/sno-agents/reconfigure/',
    why: 'how the sites went; in `before`, the way back, until `reconfigure commit` or for a week',
  },
  {
    path: '/var/lib/sno-agents/reconfigure-prepare/',
    why: 'the journal of `reconfigure prepare`',
  },
  {
    path: '/var/lib/sno-agents/installation.json',
    why: 'the record of the installation',
  },
  {
    path: '/var/lib/sno-agents/record.json',
    why: 'the record of the installation, for `report`',
  },
  {
    path: '/var/lib/sno-agents/sno-identity/',
    why: 'what the last change of the identity changed',
  },
  {
    path: '/var/lib/sno-agents/sno-address/',
    why: 'which addresses the node had',
  },
  {
    path: '/var/lib/etcd/',
    why: 'earlier revisions, in pages of the database and records of its log that are not overwritten yet',
  },
  {
    path: '/var/lib/kubelet/pki/',
    why: 'earlier certificates of the kubelet; those of the factory are not accepted any more',
  },
  {
    path: '/var/lib/containerd/',
    why: 'containers of the factory that are not deleted yet',
  },
  {
    path: '/var/log/',
    why: 'the logs: journal, audit log, containers',
  },
];

/** As text, and as base64 at each of its three alignments. */
export function formsOf(text: string): string[] {
  const encoded = [0, 1, 2].map((offset) => {
    const all = Buffer.concat([Buffer.alloc(offset), Buffer.from(text)]);
    const from = Math.ceil((offset * 8) / 6);
    return all.toString('base64').slice(from, Math.floor((all.length * 8) / 6));
  });
  return [text, ...encoded];
}

/**
 * Searches the disk of a host that is switched off, from outside.
 *
 * @throws Failure (fatal) with the files that nobody has documented
 */
export async function expectTraces(
  disk: Disk,
  needles: readonly string[],
  signal: AbortSignal,
): Promise<void> {
  const patterns = needles.flatMap(formsOf).flatMap((form) => ['-e', form]);
  const found = await inspectDisk(disk, signal, async ({ root }) => {
    const { stdout } = await execa('grep', ['-rlaF', ...patterns, ...FOLDERS], {
      cwd: root,
      cancelSignal: signal,
      timeout: SEARCH_MS,
      // 1: no match; 2: a folder that is not there.
      reject: false,
    });
    return stdout.split('\n').filter(Boolean);
  });
  const isKnown = (file: string) =>
    TRACES.some(({ path }) =>
      path.endsWith('/') ? `/${file}`.startsWith(path) : `/${file}` === path,
    );
  const unknown = found.filter((file) => !isKnown(file));
  if (unknown.length === 0) return;
  throw new Failure('fatal', 'the disk has something of the factory that is not documented', {
    expected: TRACES.map(({ path }) => path).join(', '),
    found: unknown.map((file) => `/${file}`).join('\n'),
  });
}
