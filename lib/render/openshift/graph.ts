import { Failure } from '../../base/errors/failure.ts';
import type { VersionedStage } from './stage.ts';

type Flow = Pick<VersionedStage, 'name' | 'needs' | 'makes'>;

/**
 * The stages, each with the names of all stages whose results it uses, directly or not. A stage
 * that makes what it needs completes the installer's file.
 * @throws Failure (bug) if nothing makes what a stage needs, several stages make the same, or a
 *   stage needs the result of a later one (which every cycle does)
 */
export function dependencies(
  stages: readonly Flow[],
  installerFiles: readonly string[],
): ReadonlyMap<string, ReadonlySet<string>> {
  const makers = makersOf(stages);
  const found = new Map<string, ReadonlySet<string>>();
  for (const { name, needs } of stages) {
    const all = new Set<string>();
    for (const path of needs) {
      const maker = makers.get(path);
      if (maker === undefined || maker === name) {
        if (!installerFiles.includes(path))
          throw wrong(`nothing makes ${path}, which ${name} needs`);
        continue;
      }
      const before = found.get(maker);
      if (before === undefined) throw wrong(`${name} needs ${path} of ${maker}, a later stage`);
      for (const each of [...before, maker]) all.add(each);
    }
    found.set(name, all);
  }
  return found;
}

/**
 * The stages with those first for which the longest chain of others waits: they decide when the last
 * one ends. Otherwise in their order.
 */
export function longestChainFirst<T extends Pick<Flow, 'name'>>(
  stages: readonly T[],
  before: ReadonlyMap<string, ReadonlySet<string>>,
): T[] {
  const chains = new Map<string, number>();
  for (const { name } of stages.toReversed()) {
    const waiting = stages.filter((stage) => before.get(stage.name)?.has(name));
    chains.set(name, Math.max(0, ...waiting.map((stage) => 1 + chainOf(stage.name))));
  }
  function chainOf(name: string): number {
    return chains.get(name) ?? 0;
  }
  return stages.toSorted((one, other) => chainOf(other.name) - chainOf(one.name));
}

function makersOf(stages: readonly Flow[]): Map<string, string> {
  const makers = new Map<string, string>();
  for (const { name, makes } of stages) {
    for (const path of makes) {
      const other = makers.get(path);
      if (other !== undefined) throw wrong(`${other} and ${name} make ${path}`);
      makers.set(path, name);
    }
  }
  return makers;
}

const wrong = (what: string) => new Failure('bug', `the table of render stages is wrong: ${what}`);
