import { scenarioOf } from '../installation.ts';
import type { Scenario, ScenarioStep } from '../scenario.ts';
import { type Seal, SealedAllInOne, SealedInPlace, SealedToHost } from '../sealed.ts';

/** What is on its disk, as it is read from outside, and who can open it. */
const judged = (seal: Seal): readonly ScenarioStep[] => [
  { title: 'Make a backup', run: () => seal.makeBackup() },
  { title: 'Look for its keys on the disk', run: () => seal.checkDiskFromOutside() },
  { title: 'Restart the host', run: () => seal.restartWith('its own TPM', 'restarted') },
  { title: 'The same keys, and the API', run: () => seal.checkOpened() },
];

const stolen = (seal: Seal): readonly ScenarioStep[] => [
  {
    title: 'Start the disk with another TPM',
    run: () => seal.restartWith('another TPM', 'stolen'),
  },
  { title: 'Nothing opens', run: () => seal.checkClosed() },
];

/** An all-in-one host whose keys are sealed to a TPM. */
export const aioSealed: Scenario = (context) => {
  const run = new SealedAllInOne(context);
  return scenarioOf(run, [
    ...run.stepsToDisk(),
    { title: 'Boot from the disk', run: async () => void (await run.bootInstalled()) },
    { title: 'Set up the cluster', run: (report) => run.finish(report) },
    ...judged(run.seal),
    ...stolen(run.seal),
  ]);
};

/** Sealed by the live host to the TPM of their machine; a backup is restored and a CA replaced on the sealed host. */
export const sealed: Scenario = (context) => {
  const run = new SealedInPlace(context);
  return scenarioOf(run, [
    ...run.stepsToDisk(),
    { title: 'Look for keys in the combined Ignition', run: () => run.seal.readCarried() },
    { title: 'Boot from the disk', run: () => run.seal.bootWith('its own TPM', 'disk') },
    { title: 'Restore, join and clean up', run: (report) => run.finish(report) },
    ...judged(run.seal),
    { title: 'Restore a backup', run: (report) => run.checkBackup(report) },
    { title: 'Replace a CA', run: () => run.seal.replaceCa() },
    { title: 'Look for its keys again', run: () => run.seal.checkDiskFromOutside() },
    {
      title: 'Restart the host again',
      run: () => run.seal.restartWith('its own TPM', 'restarted-again'),
    },
    { title: 'The keys that are in use now', run: () => run.seal.checkOpened() },
    ...stolen(run.seal),
  ]);
};

/** Sealed by the live host for the secret of the installed one, which has no TPM. */
export const sealedHost: Scenario = (context) => {
  const run = new SealedToHost(context);
  return scenarioOf(run, [
    ...run.stepsToDisk(),
    { title: 'Look for keys in the combined Ignition', run: () => run.seal.readCarried() },
    { title: 'Boot from the disk', run: async () => void (await run.bootInstalled()) },
    { title: 'Restore, join and clean up', run: (report) => run.finish(report) },
    { title: 'Make a backup', run: () => run.seal.makeBackup() },
    { title: 'Look for the key of the seal', run: () => run.expectKeySealed() },
    { title: 'Look for its keys on the disk', run: () => run.seal.checkDiskFromOutside() },
    { title: 'Restart the host', run: () => run.seal.restart('restarted') },
    { title: 'The same keys, and the API', run: () => run.seal.checkOpened() },
  ]);
};
