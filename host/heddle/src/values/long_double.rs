//! Numbers of x87 as decimal ones: with the fewest digits that no other `long double` is nearer to.
//!
//! The digits are made one after another, exactly, by integers as long as they need to be (Steele
//! and White, How to Print Floating-Point Numbers Accurately, PLDI 1990; Burger and Dybvig, PLDI
//! 1996): no number of the standard library has 64 bits of mantissa.

use num_bigint::BigUint;

/// The smallest exponent, which numbers without a leading one have, too.
const LOWEST: i32 = 1 - BIAS;
/// The stored exponent is larger than the power of two of the mantissa's last bit by this: IEEE's
/// bias, and the bits behind the mantissa's point.
const BIAS: i32 = 16383 + 63;

/// The decimal text of a number of x87.
pub fn text(mantissa: u64, sign_and_exponent: u16) -> String {
    let exponent = i32::from(sign_and_exponent & 0x7fff);
    let leads = mantissa >> 63 == 1;
    let size = match (exponent, mantissa) {
        (0x7fff, 0x8000_0000_0000_0000) => "inf".to_owned(),
        // The processor refuses a number without its leading one, as it does one that is none.
        (0x7fff, _) => return "NaN".to_owned(),
        (1.., _) if !leads => return "NaN".to_owned(),
        (_, 0) => "0".to_owned(),
        _ => {
            let power = (exponent - BIAS).max(LOWEST);
            let (digits, point) = digits(mantissa, power);
            placed(&digits, point)
        }
    };
    let sign = ["", "-"][usize::from(sign_and_exponent >> 15)];
    format!("{sign}{size}")
}

/// The digits of `mantissa`·2^`power`, of which the first stands behind a decimal point that is to
/// be moved so many places to the right.
fn digits(mantissa: u64, power: i32) -> (String, i32) {
    let two = |power: i32| BigUint::from(2u8).pow(power.max(0) as u32);
    let ten = |power: i32| BigUint::from(10u8).pow(power.max(0) as u32);
    // Below a power of two, the next number is half as far away as above it.
    let is_edge = mantissa == 1 << 63 && power > LOWEST;
    let above = two(power) << u32::from(is_edge);
    let mut number = (BigUint::from(mantissa) * two(power)) << (1 + u32::from(is_edge));
    let mut whole = two(-power) << (1 + u32::from(is_edge));
    // Half of the way to the next numbers; a reader takes the middle for the even one of the two.
    let (mut above, mut below) = (above, two(power));
    let is_even = mantissa % 2 == 0;
    let reaches = |sum: BigUint, whole: &BigUint| sum > *whole || (is_even && sum == *whole);
    // A number of so many bits has at least one place more; the loop below counts it.
    let bits = 64 - mantissa.leading_zeros() as i32 + power;
    let mut point = (f64::from(bits - 1) * std::f64::consts::LOG10_2).floor() as i32;
    let more = ten(-point);
    (number, above, below) = (number * &more, above * &more, below * more);
    whole *= ten(point);
    while reaches(&number + &above, &whole) {
        whole *= 10u8;
        point += 1;
    }
    let mut digits = String::new();
    loop {
        (number, above, below) = (number * 10u8, above * 10u8, below * 10u8);
        let digit = &number / &whole;
        number %= &whole;
        let digit = digit.iter_u32_digits().next().unwrap_or(0) as u8;
        let is_low = number < below || (is_even && number == below);
        let is_high = reaches(&number + &above, &whole);
        let up = is_high && (!is_low || &number * 2u8 >= whole);
        digits.push(char::from(b'0' + digit + u8::from(up)));
        if is_low || is_high {
            return (digits, point);
        }
    }
}

/// Digits with their point, or with a power of ten where it is far from them, as other numbers of
/// floating point.
fn placed(digits: &str, point: i32) -> String {
    let zeros = |count: i32| "0".repeat(count.max(0) as usize);
    if !(-4..=16).contains(&point) {
        let (first, rest) = digits.split_at(1);
        let dot = if rest.is_empty() { "" } else { "." };
        return format!("{first}{dot}{rest}e{}", point - 1);
    }
    match usize::try_from(point) {
        Ok(point) if point >= digits.len() => {
            digits.to_owned() + &zeros(point as i32 - digits.len() as i32)
        }
        Ok(1..) => {
            let (whole, rest) = digits.split_at(point as usize);
            format!("{whole}.{rest}")
        }
        _ => format!("0.{}{digits}", zeros(-point)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Gives the mantissa, and sign and exponent, that x87 has for a double.
    fn of(number: f64) -> (u64, u16) {
        let bits = number.to_bits();
        let exponent = (bits >> 52 & 0x7ff) as i32 - 1023 + 16383;
        let mantissa = 1 << 63 | bits << 11;
        (mantissa, exponent as u16 | (bits >> 63 << 15) as u16)
    }

    #[test]
    fn every_number_has_its_own_text() {
        let top = 1 << 63;
        for ((mantissa, exponent), expected) in [
            (of(0.5), "0.5"),
            (of(-3.0), "-3"),
            (of(1e15), "1000000000000000"),
            (of(9_007_199_254_740_992.0), "9007199254740992"),
            (of(1.0 / 1024.0 / 1024.0), "9.5367431640625e-7"),
            (of(2f64.powi(100)), "1.2676506002282294015e30"),
            // 0.1, and the double that is nearest to it.
            ((0xcccc_cccc_cccc_cccd, 0x3ffb), "0.1"),
            (of(0.1), "0.10000000000000000555"),
            ((0x8000_0000_0000_0400, 0x4034), "9007199254740993"),
            ((u64::MAX, 0x3fff), "1.9999999999999999999"),
            ((u64::MAX, 0x7ffe), "1.189731495357231765e4932"),
            ((top, 1), "3.3621031431120935063e-4932"),
            ((1, 0), "4e-4951"),
            ((0, 0), "0"),
            ((0, 0x8000), "-0"),
            ((top, 0x7fff), "inf"),
            ((top, 0xffff), "-inf"),
            ((3 << 62, 0xffff), "NaN"),
            ((1, 0x4000), "NaN"),
        ] {
            assert_eq!(
                text(mantissa, exponent),
                expected,
                "{mantissa:x} {exponent:x}"
            );
        }
    }

    /// The digits of a text and the power of ten that they are counted in.
    fn read(text: &str) -> (BigUint, i32) {
        let (number, power) = text.split_once('e').unwrap_or((text, "0"));
        let (whole, rest) = number.split_once('.').unwrap_or((number, ""));
        let digits = format!("{whole}{rest}");
        let power: i32 = power.parse().unwrap();
        (digits.parse().unwrap(), power - rest.len() as i32)
    }

    #[test]
    fn no_other_number_is_nearer_to_a_text() {
        let mut random: u64 = 1;
        let mut next = || {
            random = random
                .wrapping_mul(6364136223846793005)
                .wrapping_add(1442695040888963407);
            random ^ random >> 29
        };
        for round in 0..1000 {
            let exponent = match round % 4 {
                0 => 0,
                1 => next() as u16 % 0x7fff,
                _ => 0x3fff - 70 + next() as u16 % 140,
            };
            let edge = [0, next() & 3, next()][round % 3];
            let mantissa = match exponent {
                0 => edge.max(1) & u64::MAX >> 1,
                _ => 1 << 63 | edge,
            };
            let text = text(mantissa, exponent);
            let (digits, ten) = read(&text);
            let two = (i32::from(exponent) - BIAS).max(LOWEST);
            // Both in units of the smaller powers.
            let (up, down) = (
                |power: i32| power.max(0) as u32,
                |power: i32| (-power).max(0) as u32,
            );
            let ten_to = |power| BigUint::from(10u8).pow(power);
            let told = (digits * ten_to(up(ten))) << down(two);
            let unit = ten_to(down(ten)) << up(two);
            let number = &unit * mantissa;
            let (far, near) = match told > number {
                true => ((told - number) * 2u8, unit),
                false if mantissa == 1 << 63 && exponent > 1 => ((number - told) * 4u8, unit),
                false => ((number - told) * 2u8, unit),
            };
            let is_even = mantissa % 2 == 0;
            assert!(
                far < near || (is_even && far == near),
                "{mantissa:x} {exponent:x}: {text}"
            );
        }
    }
}
