#!/usr/bin/env python3
"""How many primes are there below n? Put your own work here: the problem, a function a model, and an
oracle that finds the answer in another way.
"""

from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor

from heddle_lab import Lab


def count(begin, end):
    def is_prime(candidate):
        return candidate >= 2 and all(candidate % d for d in range(2, int(candidate**0.5) + 1))

    return sum(map(is_prime, range(begin, end)))


def in_a_pool(pool, n, workers):
    """The numbers in 8 pieces for each worker."""
    step = max(1, n // (8 * workers))
    begins = range(0, n, step)
    with pool(max_workers=workers) as workers_of_pool:
        return sum(workers_of_pool.map(count, begins, (min(n, begin + step) for begin in begins)))


def sieve(n):
    composite, found = bytearray(n), 0
    for i in range(2, n):
        if not composite[i]:
            found += 1
            composite[2 * i :: i] = b"\1" * len(range(2 * i, n, i))
    return found


def main():
    lab = Lab("@NAME@")
    n = lab.parameter("n", 20_000, 2, 100_000_000)
    workers = lab.parameter("workers", 2, 1, 256)

    lab.model("serial", lambda: count(0, n))
    lab.model("thread", lambda: in_a_pool(ThreadPoolExecutor, n, workers))
    lab.model("process/pool", lambda: in_a_pool(ProcessPoolExecutor, n, workers))

    def oracle(found):
        expected = sieve(n)
        return found == expected, f"primes below {n}: {found}, by a sieve {expected}"

    lab.run(oracle)


if __name__ == "__main__":
    main()
