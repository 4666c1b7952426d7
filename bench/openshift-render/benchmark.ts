import { isBuilt } from '../../lab/components/component.ts';
import { openshiftImages } from '../../lab/components/openshift/images.ts';
import { openshiftInstaller } from '../../lab/components/openshift/installer.ts';
import { OPENSHIFT_VERSION } from '../../lab/components/openshift/release.ts';
import { type RenderTimes, readRenderTimes } from '../../lab/openshift/render-times.ts';
import { type Benchmark, NotRunHere, type Row } from '../benchmark.ts';
import { expectLab, LAB_MS, runLab } from '../lab-run.ts';
import { compare } from '../statistics.ts';

export const openshiftRender: Benchmark = {
  name: 'openshift-render',
  compares: "rendering OpenShift's control plane, compared with one stage after another",
  deadlineMs: LAB_MS,
  async run(signal, context) {
    await expectLab();
    await expectRelease();
    const times = await readRenderTimes(await runLab('openshift-render', signal, context));
    return { rows: [renderRow(times)], versions: { openshift: OPENSHIFT_VERSION } };
  },
};

const note =
  'Ours is the step render, up to four stages at once, each in a unit of its own; theirs is a script that runs ' +
  'the same containers as bootkube.sh, with the lookup of each image, but without its two calls of oc. The ' +
  'programs are those of the lab, most of which take a fraction of a second; the goal is at least twice as fast.';

/** Built in an hour, for which no benchmark waits. */
async function expectRelease(): Promise<void> {
  for (const component of [openshiftInstaller, openshiftImages]) {
    if (await isBuilt(component)) continue;
    const reason = `${component.name} is not built: run npm run lab -- --scenario openshift-render`;
    throw new NotRunHere(reason);
  }
}

export function renderRow({ ours, shell }: RenderTimes): Row {
  return compare({ what: 'render all stages', unit: 's', note }, ours, shell);
}
