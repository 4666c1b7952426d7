/** How many bytes may still be written somewhere. */
export class Budget {
  #left: number;

  constructor(bytes: number) {
    this.#left = bytes;
  }

  get left(): number {
    return this.#left;
  }

  spend(bytes: number): void {
    this.#left -= bytes;
  }

  refund(bytes: number): void {
    this.#left += bytes;
  }
}
