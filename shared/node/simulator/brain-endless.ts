/** A thought that finds no end. It never repeats one token often enough for the server's guard. */

/** Trial division where the turn asks about a prime, and then all over again; else doubt. */
export function endlessThought(turn: string): Iterable<string> {
  const number = /\bprime\b/i.test(turn) ? /\b\d{2,12}\b/.exec(turn)?.[0] : undefined;
  return number === undefined ? doubt() : trialDivision(Number(number));
}

function* doubt(): Generator<string> {
  for (;;) yield 'Maybe I should check again. ';
}

function* trialDivision(number: number): Generator<string> {
  yield ` Is ${number} prime? Its square root is about ${Math.round(Math.sqrt(number))}, so I try the primes up to there.`;
  for (let round = 1; ; round += 1) {
    let tried = 0;
    for (let divisor = 2; divisor * divisor <= number && tried < TRIED_MAX; divisor += 1) {
      if (!isPrime(divisor)) continue;
      tried += 1;
      const times = Math.floor(number / divisor);
      yield ` ${divisor}: ${divisor} x ${times} = ${divisor * times}, ${number - divisor * times} left over.`;
    }
    yield ` Wait, did I skip one? Let me check again, round ${round + 1}.`;
  }
}

/** Divisors tried in one round. */
const TRIED_MAX = 1_000;

function isPrime(number: number): boolean {
  for (let divisor = 2; divisor * divisor <= number; divisor += 1) if (number % divisor === 0) return false;
  return true;
}
