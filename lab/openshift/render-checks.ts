import { copyFile, readFile, rename } from 'node:fs/promises';
import { join } from 'node:path';
import { Failure } from '../../lib/base/errors/failure.ts';
import { exists } from '../../lib/host/files.ts';
import type { ImageRoots } from './image-roots.ts';
import { type Render, rendersOf } from './renders.ts';

/** Runs every render in order, and requires the files that each must write. */
export async function renderAll(
  roots: ImageRoots,
  report: (line: string) => void,
  signal: AbortSignal,
): Promise<void> {
  for (const render of await rendersOf(roots, signal)) {
    report(render.name);
    const root = await roots.of(render.image, signal);
    await root.run(render.command, signal);
    for (const file of render.files) {
      const path = join(roots.assets, file);
      if (!(await exists(path))) throw failure(render, `did not write ${file}`);
    }
  }
}

/**
 * Each render must refuse an unknown flag, its command without the flag that it requires, and
 * assets without the file that it reads. Returns how many commands were refused.
 */
export async function requireRefusals(roots: ImageRoots, signal: AbortSignal): Promise<number> {
  let refused = 0;
  const refuse = async (render: Render, command: readonly string[]) => {
    await requireRefused(roots, render, command, signal);
    refused += 1;
  };
  for (const render of await rendersOf(roots, signal)) {
    const { command, required, reads } = render;
    await refuse(render, [...command, '--no-such-flag=1']);
    if (required !== undefined) {
      const without = command.filter((argument) => !argument.startsWith(`--${required}=`));
      if (without.length === command.length) throw failure(render, `has no flag --${required}`);
      await refuse(render, without);
    }
    if (reads !== undefined) {
      const file = join(roots.assets, reads);
      await rename(file, `${roots.assets}.hidden`);
      await refuse(render, command);
      await rename(`${roots.assets}.hidden`, file);
    }
  }
  return refused;
}

async function requireRefused(
  roots: ImageRoots,
  render: Render,
  command: readonly string[],
  signal: AbortSignal,
): Promise<void> {
  const root = await roots.of(render.image, signal);
  try {
    await root.run(command, signal);
  } catch (error) {
    if (error instanceof Failure && error.message.includes('exit code')) return;
    throw error;
  }
  throw failure(render, `accepted ${command.join(' ')}`);
}

/** The release image must print a reference of its list for every image that renders. */
export async function requireReferences(
  roots: ImageRoots,
  release: string,
  signal: AbortSignal,
): Promise<void> {
  const root = await roots.of(release, signal);
  const file = join(root.tree, 'release-manifests/image-references');
  const list = await readFile(file, 'utf8');
  for (const { image } of await rendersOf(roots, signal)) {
    if (image === release) continue;
    const printed = await root.run(['image', image], signal);
    if (list.includes(`"${printed}"`)) continue;
    throw new Failure('fatal', `image ${image}: "${printed}" is not in image-references`);
  }
  // The machine-config operator reads the whole list.
  await copyFile(file, join(roots.assets, 'image-references'));
}

function failure({ image, name }: Render, what: string): Failure {
  return new Failure('fatal', `the stage ${name} with the image ${image} ${what}`);
}
