import { minutes, seconds } from './units.ts';

/** Changes of the host: sno-address, sno-identity, sno-trial, sno-update, sno-report. */
export const changeSettings = {
  /**
   * sno-address: how long the addresses must stay as they are before anything is concluded from them: a link that
   * comes up gets its addresses one after the other.
   */
  addressStableMs: seconds(15),
  /** sno-address: until the addresses stay as they are, and nothing else changes the host. */
  addressFollowMs: minutes(60),
  /** sno-address: how many moves of an address are followed within a day. Each takes the API away for minutes. */
  addressFollowsCount: 3,
  /** sno-identity: until the host has its new addresses, and no other agent changes the same files. */
  identityCheckMs: minutes(5),
  /** sno-identity: until the controller-manager and the scheduler have stopped. */
  identityHoldMs: minutes(5),
  /** sno-identity: until the API is ready with the new certificate. */
  identityFilesMs: minutes(10),
  /** sno-identity: all objects that name the Node. */
  identityObjectsMs: minutes(10),
  /** sno-identity: until the API is ready, with the controllers. */
  identityStartMs: minutes(10),
  /** sno-trial: putting network profiles, files and folders back, before the network starts. */
  trialRevertMs: minutes(5),
  /** sno-update: fetching or copying the executable and the payload beside those in use. */
  updateStageMs: minutes(45),
  /** sno-update: the new executable computes what it changes on this host. */
  updatePrepareMs: minutes(2),
  /** sno-update: replacing executable, payload and files, while the kubelet is stopped. */
  updateSwitchMs: minutes(10),
  /** sno-update: until the images are imported, the control plane runs the new ones, and nothing changes. */
  updateSettleMs: minutes(25),
  /** sno-update: how long nothing may change before the update is confirmed. */
  updateWindowMs: seconds(60),
  /** sno-update: how long an update may stay unconfirmed, also after a restart; after that the host goes back. */
  updateTrialMs: minutes(40),
  /** sno-update: most restarts of the host with an unconfirmed update; a whole number. */
  updateBootsCount: 1,
  /** sno-report: for how long one run sends what is new, and tries again while nobody answers. */
  reportMs: minutes(10),
  /** sno-report: the least time between two reports. */
  reportPauseMs: seconds(15),
  /** sno-report: how soon a report that was refused may be sent again; the timer starts it every 15 to 20 minutes. */
  reportRefusedMs: minutes(45),
} as const;
