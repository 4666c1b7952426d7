import type { RecordedStep } from '../lib/cluster/installation/record.ts';
import type { Components } from './components/index.ts';
import type { Host } from './host/host.ts';
import type { Hosts } from './host/hosts.ts';
import type { Teardown } from './host/teardown.ts';
import type { ImageSource } from './own-system.ts';

/** What a lab run passes to its scenario. */
export interface LabContext {
  readonly components: Components;
  /** How its hosts run. */
  readonly hosts: Hosts;
  /** Where the installations of live ISOs have the image from that they write. */
  readonly imageSource: ImageSource;
  /** On a real file system; deleted after the run. */
  readonly folder: string;
  /** `lab/out/<scenario>`: logs, journals and the result; kept. */
  readonly out: string;
  /** Whether what an earlier run of the scenario has shown may be left out. Most scenarios show one thing. */
  readonly resume: boolean;
  readonly teardown: Teardown;
  readonly signal: AbortSignal;
}

export interface ScenarioStep {
  readonly title: string;
  /** `report` shows one line beside the title. */
  run(report: (line: string) => void): Promise<void>;
}

/** A running scenario: its steps, in order, and its results. */
export interface ScenarioRun {
  readonly steps: readonly ScenarioStep[];
  /** The host that is running now. */
  readonly host: Host | undefined;
  /** What the agents on the hosts have done so far, from their own records. */
  agentSteps(): Promise<readonly RecordedStep[]>;
}

export type Scenario = (context: LabContext) => ScenarioRun;
