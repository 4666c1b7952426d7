/** The units of a relocatable host of OpenShift: those of every node, except for what CoreOS and its operators demand. */
import t from 'tap';
import { reconfigureOpenShiftPlan } from '../../../agents/reconfigure/openshift/plan.ts';
import { defaultSettings } from '../../../lib/host/settings.ts';
import { nodeUnits } from '../../../units/installed.ts';
import { relocatableUnits } from '../../../units/openshift.ts';
import { ARRIVE_MS, MARGIN_MS } from './timeout-requirements.ts';

const unit = (name: string) => {
  const of = (units: typeof nodeUnits) => units.find((each) => each.name === name)?.contents ?? '';
  return { common: of(nodeUnits), own: of(relocatableUnits) };
};
/** The last value of a directive, which is the one that counts. */
const last = (text: string, directive: string) =>
  [...text.matchAll(new RegExp(`^${directive}=(.*)$`, 'gm'))].at(-1)?.[1];

t.test(
  'reconfigure waits for no CRI-O, which waits for a network that only the volume brings',
  (t) => {
    const { common, own } = unit('reconfigure.service');
    t.match(
      common,
      /^After=sno-trial\.service NetworkManager\.service containerd\.service crio\.service$/m,
    );
    t.match(own, /^After=sno-trial\.service NetworkManager\.service$/m);
    t.notMatch(own, /crio|kubelet-dependencies|network-online/);
    t.end();
  },
);

t.test('reconfigure has the time of all steps on OpenShift', (t) => {
  const sum = reconfigureOpenShiftPlan(defaultSettings).steps.reduce(
    (all, { deadlineMs }) => all + deadlineMs,
    0,
  );
  const seconds = (sum + ARRIVE_MS + MARGIN_MS) / 1000;
  t.equal(last(unit('reconfigure.service').own, 'TimeoutStartSec'), `${seconds}`);
  t.end();
});

t.test(
  'both reach the SSH keys that the machine-config daemon writes, and no more of /home',
  (t) => {
    for (const name of ['reconfigure.service', 'sno-trial.service']) {
      const { common, own } = unit(name);
      t.equal(last(common, 'ProtectHome'), 'yes');
      t.equal(last(own, 'ProtectHome'), 'no');
      t.equal(last(own, 'ProtectSystem'), 'strict');
      t.equal(last(own, 'ReadWritePaths'), '-/var/home/core');
    }
    t.end();
  },
);

t.test('files go back before what makes the network of the pods reads them', (t) => {
  const { own } = unit('sno-trial.service');
  for (const each of ['nodeip-configuration', 'ovs-configuration', 'crio', 'kubelet']) {
    t.match(own, new RegExp(`^Before=.*\\b${each}\\.service`, 'm'));
  }
  t.end();
});
