import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { Failure } from '../../lib/base/errors/failure.ts';
import { readGoYaml } from '../../lib/base/go-yaml/read.ts';
import { hostPaths } from '../../lib/host/paths.ts';
import type { Rendered } from '../../lib/render/renderer.ts';
import { loadRendered } from '../../lib/render/store.ts';
import type { Host } from '../host/host.ts';
import type { LabContext } from '../scenario.ts';
import { expectedDifferences } from './expected-differences.ts';
import { readReference, treeOf } from './rendered-tree.ts';
import { type ComparedTree, explain, treeDifferences } from './tree-differences.ts';

/** Of the lab's release and of the reference. */
const VERSION = '4.21';

/**
 * Compares what the host has rendered with the reference, file by file. The differences are written
 * to `differences.txt`, with their reasons. @throws Failure (fatal) for one without a reason, and for
 * a reason without a difference
 */
export async function compareWithReference(
  host: Host,
  folder: string,
  context: LabContext,
): Promise<string> {
  const paths = hostPaths(host.rootDir);
  const ours = compared(await loadRendered(paths));
  const reference = { folder, version: VERSION, assets: paths.assets } as const;
  const real = compared(await readReference(reference, join(context.folder, 'reference')));
  const differences = treeDifferences(ours, real);
  const { unexplained, byReason, stale } = explain(differences, expectedDifferences);
  const list = [
    ...[...byReason].flatMap(([reason, all]) => [reason, ...all.map((each) => `  ${each}`)]),
    ...(unexplained.length === 0 ? [] : ['UNEXPLAINED', ...unexplained.map((each) => `  ${each}`)]),
  ];
  await writeFile(join(context.out, 'differences.txt'), `${list.join('\n')}\n`);
  if (unexplained.length + stale.length > 0) {
    throw new Failure('fatal', 'what was rendered is not as expected', {
      found: [
        ...unexplained,
        ...stale.map(
          ({ reason, difference }) => `no longer a difference: ${reason} (${difference})`,
        ),
      ].join('\n'),
    });
  }
  const files = new Set([...ours.texts.keys(), ...real.texts.keys()]).size;
  return `${files} files, ${differences.length} differences for ${byReason.size} reasons`;
}

const podSchema = z.object({ metadata: z.object({ name: z.string() }) });
const dnsSchema = z.object({ spec: z.object({ baseDomain: z.string() }) });
const infrastructureSchema = z.object({ status: z.object({ infrastructureName: z.string() }) });

/** With the names that are particular to its cluster. */
function compared(rendered: Rendered): ComparedTree {
  const texts = treeOf(rendered);
  const read = (path: string): unknown => readGoYaml(texts.get(path) ?? '');
  const etcd = podSchema.parse(read('pods/etcd-pod.yaml')).metadata.name;
  const { spec } = dnsSchema.parse(read('manifests/cluster-dns-02-config.yml'));
  const { status } = infrastructureSchema.parse(
    read('manifests/cluster-infrastructure-02-config.yml'),
  );
  return {
    texts,
    names: {
      host: etcd.replace(/^etcd-/, ''),
      domain: spec.baseDomain,
      infrastructure: status.infrastructureName,
    },
  };
}
