import t from 'tap';
import { stagesMinor } from '../../../../lib/render/openshift/versions.ts';

t.test('releases by their minor version', async (t) => {
  for (const [version, minor] of [
    ['4.14.0', '4.14'],
    ['4.21.3', '4.21'],
    ['4.19.0-0.nightly-2026-01-01-000000', '4.19'],
    ['4.20.0-okd-scos.1', '4.20'],
    ['4.22.0-rc.1', '4.22'],
    ['5.0.0-ec.2', '5.0'],
  ] as const) {
    t.equal(stagesMinor(version, false), minor, version);
    t.equal(stagesMinor(version, true), minor, `${version}: its own, whatever is accepted`);
  }
});

t.test('releases that the table does not describe are named', async (t) => {
  for (const version of ['4.13.9', '5.1.0', '3.11.0', '4.9.1', 'latest', '']) {
    t.throws(
      () => stagesMinor(version, false),
      { kind: 'usage', message: /cannot be rendered; expected OpenShift 4\.14 to 5\.0/ },
      version,
    );
  }
});

t.test('an unknown newer release that was accepted has the stages of the newest', async (t) => {
  t.equal(stagesMinor('5.1.0', true), '5.0');
  t.equal(stagesMinor('6.3.0-okd-scos.0', true), '5.0');
  for (const version of ['4.13.9', 'latest']) {
    t.throws(() => stagesMinor(version, true), { message: /Use one of these/ }, version);
  }
});
