//! Naive oracle and test cases for every operation.
