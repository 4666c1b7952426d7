/**
 * What a step uses by its own file, it declares: `touches` decides which faults the lab demands of its plan. What it
 * uses through other files is not looked at here.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { z } from 'zod';
import type { Touched } from '../../../lib/engine/steps/touched.ts';
import { type Import, importsOf, root, sourcesIn } from './source.ts';

/** From which modules, and by which names, something is used. */
const USED: Partial<Record<Touched, readonly [target: RegExp, names: RegExp]>> = {
  disk: [/^(lib|agents)\//, /^(write|remove|sync|record|save|place)[A-Z]/],
  systemd: [/^lib\/host\/systemd\.ts$/, /^(start|stop|restart|enable|disable|reload)/],
  runtime: [/^lib\/clients\/cri\/runtime\.ts$/, /^connect/],
  etcd: [/^lib\/clients\/etcd\//, /^[a-z]/],
  api: [
    /^(lib\/clients\/kube\/(client|apply|watch)[^/]*|agents\/worker\/own-node)\.ts$/,
    /^(as|apply|kube|watch|Kube)[A-Z]/,
  ],
};

const steps = z.object({ touches: z.array(z.string()) });

/** What the steps that a file exports declare together; undefined if it exports none. */
async function declaredBy(file: string): Promise<readonly string[] | undefined> {
  const exported: Readonly<Record<string, unknown>> = await import(join(root, file));
  const found = Object.values(exported).flatMap((value) => steps.safeParse(value).data ?? []);
  return found.length === 0 ? undefined : found.flatMap(({ touches }) => touches);
}

const isOf = ({ target, names, isTypeOnly }: Import, [module, of]: readonly [RegExp, RegExp]) =>
  !isTypeOnly && module.test(target) && names.some((name) => of.test(name));

t.test('a step declares what its file uses', async (t) => {
  const declared = new Map<string, readonly string[]>();
  for (const file of sourcesIn('agents/**/*.ts')) {
    if (!/\btouches: \[/.test(readFileSync(join(root, file), 'utf8'))) continue;
    const touches = await declaredBy(file);
    if (touches !== undefined) declared.set(file, touches);
  }
  t.ok(declared.size > 100, `${declared.size} files with steps`);
  for (const [touched, of] of Object.entries(USED)) {
    const using = [...declared].filter(([file]) => importsOf(file).some((each) => isOf(each, of)));
    t.ok(using.length > 0, `${using.length} use ${touched}`);
    for (const [file, touches] of using) t.ok(touches.includes(touched), `${file}: ${touched}`);
  }
});
